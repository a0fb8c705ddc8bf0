"""Why a call cannot be decided on."""

from backend.errors.base import AppError


class NothingToDecide(AppError):
    """This turn is not waiting for a decision."""

    status = 409


class ApprovalNotFound(AppError):
    """There is no such call to decide on, or its session was deleted."""

    status = 404


class AlreadyDecided(AppError):
    """Somebody has decided on this call already; nothing was changed."""

    status = 409


class ArgumentsChanged(AppError):
    """These are not the arguments that wait for a decision. Load them again, then decide."""

    status = 409
