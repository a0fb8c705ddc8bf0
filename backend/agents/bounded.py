"""Waiting for a tool with a time limit, both for its result and for its cancellation."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, TypeVar

LET_GO_SECONDS = 0.3

T = TypeVar("T")

_abandoned: set[asyncio.Task[Any]] = set()

logger = logging.getLogger(__name__)


class TookTooLong(Exception):
    """The time was up. `runs_on`: the work ignored its cancellation and was abandoned."""

    def __init__(self, *, runs_on: bool) -> None:
        super().__init__()
        self.runs_on = runs_on


class GaveUp(Exception):
    """The work raised an exception that is meant to end a task or a process."""


async def run_bounded(work: Awaitable[T], seconds: float) -> T:
    """Return the result of `work`. Raise TookTooLong after `seconds`, whatever it is doing.

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
    """Contain a tool's sys.exit(), which would end the event loop and all turns with it."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        raise GaveUp from error


async def _let_go(task: asyncio.Task[Any]) -> bool:
    """Cancel the task and return whether it ended; abandon it after a moment."""
    task.cancel()
    _abandoned.add(task)
    task.add_done_callback(_forget)
    await asyncio.wait({task}, timeout=LET_GO_SECONDS)
    if not task.done():
        logger.warning("a tool ignored its cancellation and was abandoned")
    return task.done()


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()
