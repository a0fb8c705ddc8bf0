"""The root of the error hierarchy, and the errors that any part may raise.

Each class names a fact, carries its HTTP status and tells people what to do.
"""


class AppError(Exception):
    """Something went wrong in Colloquy; the log has the details."""

    status = 500
    retry_after: int | None = None
    offer: str | None = None  # what pages offer beside Retry, or instead

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip()
        super().__init__(self.detail)

    @property
    def title(self) -> str:
        """Return the fact in words, from the class's name: TurnNotFound -> 'Turn not found'."""
        name = type(self).__name__
        words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
        return words.capitalize()


class InvalidInput(AppError):
    """The input is not valid; nothing was changed. Correct it and send it again."""

    status = 422


class NotAllowed(AppError):
    """Your role does not allow this. Ask an administrator."""

    status = 403


class TooManyStreams(AppError):
    """Too many event streams are open already. Close some pages of sessions, then try again."""

    status = 429
    retry_after = 10


class TooBusy(AppError):
    """Too many requests of this kind are waiting. Try again in a few seconds."""

    status = 503
    retry_after = 5


class DatabaseUnavailable(AppError):
    """The database is not answering; nothing was changed. Try again in a few seconds."""

    status = 503
    retry_after = 5


class DatabaseFull(DatabaseUnavailable):
    """The disk of the database is full; nothing was changed. Tell the operator, then try again."""


class ConfigurationError(AppError):
    """The configuration is not usable; the message says which setting and how to fix it."""
