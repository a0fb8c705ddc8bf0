"""Errors raised when a tool call cannot be decided on."""

from backend.errors.base import AppError


class NothingToDecide(AppError):
    """This turn is not waiting for a decision."""

    status = 409


class ApprovalNotFound(AppError):
    """No such call waits for a decision, or its session was deleted."""

    status = 404


class AlreadyDecided(AppError):
    """Someone has already decided on this call; nothing was changed."""

    status = 409


class ArgumentsChanged(AppError):
    """These are not the arguments that are waiting for a decision. Reload them, then decide."""

    status = 409
