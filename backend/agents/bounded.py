"""Waiting for a tool, but not for ever: neither for its end, nor for it to let go."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar

LET_GO_SECONDS = 0.3

T = TypeVar("T")

_abandoned: set[asyncio.Task[Any]] = set()

logger = logging.getLogger(__name__)


class TookTooLong(Exception):
    """The time was up. `runs_on`: it did not let go when it was told to, and was left behind."""

    def __init__(self, *, runs_on: bool) -> None:
        super().__init__()
        self.runs_on = runs_on


class GaveUp(Exception):
    """It ended itself by an exception that is meant to end a task or a process."""


async def run_bounded(work: Awaitable[T], seconds: float) -> T:
    """Return what `work` gives; TookTooLong after so many seconds, whatever it does meanwhile.

    Work that does not end when it is cancelled is abandoned after a moment: a stop must be prompt.
    """
    task = asyncio.ensure_future(_contain(work))
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await _let_go(task)
        raise
    if not task.done():
        raise TookTooLong(runs_on=not await _let_go(task))
    if task.cancelled():
        raise GaveUp
    return task.result()


async def _contain(work: Awaitable[T]) -> T:
    """A tool that calls sys.exit() would otherwise end the event loop, and all turns with it."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise GaveUp from error


async def _let_go(task: asyncio.Task[Any]) -> bool:
    """Cancel the task and give whether it ended; nobody waits for it after a moment."""
    task.cancel()
    _abandoned.add(task)
    task.add_done_callback(_forget)
    await asyncio.wait({task}, timeout=LET_GO_SECONDS)
    if not task.done():
        logger.warning("a tool ignores that it was cancelled; it is left behind")
    return task.done()


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()
