"""Which sources a call waits for while they are read for the first time, for who asked to know."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

# Tasks that a call begins share what it notices: they inherit its context.
_BEING_READ: ContextVar[dict[str, float] | None] = ContextVar("being_read", default=None)


@contextmanager
def noticing() -> Iterator[Mapping[str, float]]:
    """Give the sources that are read for the block, by name, each with when that began.

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
    """Let it be noticed that the block waits for a source to be read."""
    being_read = _BEING_READ.get()
    if being_read is None:
        yield
        return
    being_read[name] = time.monotonic()
    try:
        yield
    finally:
        being_read.pop(name, None)
