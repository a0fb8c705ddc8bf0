"""What can be wrong with a session, its messages, its links and what its model reads."""

from datetime import UTC, datetime

from backend.errors.base import AppError


class SearchTooBroad(AppError):
    """The search took too long and was ended. Use more words, or rarer ones, or whole words."""

    status = 422


class SessionNotFound(AppError):
    """There is no such session, or it was deleted. Choose another one or start a new chat."""

    status = 404


class LinkNotFound(AppError):
    """There is no such link, or its session was deleted. Ask whoever sent it for another one."""

    status = 404


class LinkRevoked(AppError):
    """The owner of this session has revoked the link. Ask them for another one."""

    status = 410

    @classmethod
    def at(cls, when: datetime) -> "LinkRevoked":
        """Return the error that says when it was."""
        said = f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return cls(f"The owner of this session revoked the link on {said}. Ask them for another.")


class TooManyLinks(AppError):
    """This session has as many links as one may have, with those that were revoked."""

    status = 409


class ResultNotFound(AppError):
    """There is no such stored result, or its session was deleted."""

    status = 404


class MessageTakenBack(AppError):
    """This message was taken back before anybody answered it. Send it again."""

    status = 409


class SessionBusy(AppError):
    """A turn of this session is not finished. Wait for its end, or stop it first."""

    status = 409


class NotShown(AppError):
    """This message is not part of what the session shows. Switch to the version that has it."""

    status = 409


class CallsUnanswered(AppError):
    """The last turn of this session left tool calls without results. Press Retry there first."""

    status = 409


class StateNotKept(AppError):
    """What the model read at that time is not kept: the session is of an older version."""

    status = 409


class CallNotFound(AppError):
    """There is no such model call in this session. GET …/calls lists those that are kept."""

    status = 404


class CallNotKept(AppError):
    """What this call sent cannot be given again: a part of it is not kept any more."""

    status = 409


class IdempotencyKeyReused(AppError):
    """This Idempotency-Key was used before with another body. Use a new key for a new message."""

    status = 422


class MessageTooLong(AppError):
    """The message is too long. Put the text into a file under DATA_DIR/sources and ask about it."""

    status = 413


class CorruptState(AppError):
    """What the agent remembers of this session is unreadable; what was said stays. Rebuild it."""

    status = 409
