"""Reports which sources a call is waiting for while they are read for the first time."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

# Tasks started by a call inherit its context, and so record into the same mapping.
_BEING_READ: ContextVar[dict[str, float] | None] = ContextVar("being_read", default=None)


@contextmanager
def noticing() -> Iterator[Mapping[str, float]]:
    """Provide the sources being read during the block: each name with the time its reading began.

    Times are those of `time.monotonic`.
    """
    being_read: dict[str, float] = {}
    token = _BEING_READ.set(being_read)
    try:
        yield being_read
    finally:
        _BEING_READ.reset(token)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Record that the block waits for a source to be read."""
    being_read = _BEING_READ.get()
    if being_read is None:
        yield
        return
    being_read[name] = time.monotonic()
    try:
        yield
    finally:
        being_read.pop(name, None)
