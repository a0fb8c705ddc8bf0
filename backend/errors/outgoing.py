"""Errors about the addresses that a configuration names."""

from backend.errors.base import AppError


class AddressRefused(AppError):
    """There is no such host, or the operator does not allow its address (OUTGOING_ALLOWED)."""

    status = 422

    @property
    def reason(self) -> str:
        """Return the fact as the end of a sentence."""
        return self.detail[0].lower() + self.detail[1:].rstrip(".")
