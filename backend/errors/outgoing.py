"""Errors about the addresses that a configuration names."""

from backend.errors.base import AppError


class AddressRefused(AppError):
    """There is no such host, or the operator does not allow its address (OUTGOING_ALLOWED)."""

    status = 422
