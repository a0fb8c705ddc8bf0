"""Errors about sessions: their messages, links, search and agent state."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from backend.errors.base import AppError


class SearchTooBroad(AppError):
    """The search took too long and was stopped. Use more words, rarer words or whole words."""

    status = 422


class SessionNotFound(AppError):
    """There is no such session, or it was deleted. Choose another one or start a new chat."""

    status = 404


class LinkNotFound(AppError):
    """There is no such link, or its session was deleted. Ask the sender for a new one."""

    status = 404


class LinkRevoked(AppError):
    """The owner of this session has revoked the link. Ask them for another one."""

    status = 410

    @classmethod
    def at(cls, when: datetime) -> "LinkRevoked":
        """Return the error with the time of the revocation."""
        date = f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return cls(f"The owner of this session revoked the link on {date}. Ask them for another.")


class LinkExpired(AppError):
    """This link has expired, or who made it may not share the session any more. Ask for another."""

    status = 410


class TooManyLinks(AppError):
    """This session has reached its limit of links; revoked ones count too."""

    status = 409


class ResultNotFound(AppError):
    """There is no such stored result, or its session was deleted."""

    status = 404


class MessageTakenBack(AppError):
    """This message was withdrawn before it was answered. Send it again."""

    status = 409


class SessionBusy(AppError):
    """A turn of this session is not finished. Wait until it ends, or stop it first."""

    status = 409


class StateChanged(AppError):
    """The agent state has changed since it was read. Read it again, and change that."""

    status = 412


class StateNotNamed(AppError):
    """Say which state you have changed: send the ETag of the state that you read as If-Match."""

    status = 428


class BranchNotFound(AppError):
    """This session has no such branch. GET …/branches tells those that it has."""

    status = 404


class NotShown(AppError):
    """The session does not show this message now. Switch to the version that contains it."""

    status = 409


class CallsUnanswered(AppError):
    """The last turn of this session left tool calls without results. Press Retry there first."""

    status = 409


class StateNotKept(AppError):
    """What the model read then is missing from the database. Continue from a later message."""

    status = 409


class CallNotFound(AppError):
    """There is no such model call in this session. GET …/calls lists those that are kept."""

    status = 404


class CallNotKept(AppError):
    """This call cannot be shown: part of what it sent is no longer stored."""

    status = 409


class IdempotencyKeyReused(AppError):
    """This Idempotency-Key was used before with another body. Use a new key for a new message."""

    status = 422


class MessageTooLong(AppError):
    """A message may have at most 2,000,000 characters. Upload a longer text as a file."""

    status = 413


class CorruptState(AppError):
    """The agent's memory of this session is unreadable; its messages are intact. Rebuild it."""

    status = 409


@contextmanager
def corrupt_if_it_fails() -> Iterator[None]:
    """Raise CorruptState for any failure to read stored data, which may have been edited."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CorruptState from error
