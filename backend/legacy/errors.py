"""Why a file of the older system cannot be taken over; people read these sentences."""

from backend.errors.base import AppError


class LegacyRefused(AppError):
    """This file cannot be read, or the call is unclear."""

    status = 422
