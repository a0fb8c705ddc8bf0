"""Why work in the sandbox returned no result; people and models read these sentences."""

from backend.errors.base import AppError


class SandboxError(AppError):
    """The result could not be computed."""

    status = 422


class OutOfTime(SandboxError):
    """This took too long and was stopped. Ask for less, and try again."""


class OutOfMemory(SandboxError):
    """This needed too much memory and was stopped. Ask for less, and try again."""


class ResultTooLarge(SandboxError):
    """The result is too large. Ask for less, and try again."""


class Killed(SandboxError):
    """The process that computed this crashed or was killed. Ask for less, and try again."""

    status = 500


class WorkFailed(SandboxError):
    """This could not be computed because of an unexpected error; the log has the details."""

    status = 500


class SandboxBusy(SandboxError):
    """Too much else is being computed at the moment. Try again in a few seconds."""

    status = 503
    retry_after = 5
