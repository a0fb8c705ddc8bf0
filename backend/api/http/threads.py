"""Where routes run that take long or answer much: never on the loop, never in others' threads."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

import anyio
import anyio.to_thread
from pydantic_core import to_json
from starlette.responses import Response

from backend.errors.base import TooBusy

LONG_READS = 4  # threads for what reads much of the database; beyond, requests wait for one
LONG_WAITS = 8  # threads for what waits for workers, or deletes
LARGE_ANSWERS = 16  # threads for what may read and write megabytes
FINISHED_TURNS = 4  # threads for the answers of turns that requests have waited for
MOST_WAITED = 4_000  # twice of what may wait in all: no request has waited in vain
MOST_QUEUED = 100

P = ParamSpec("P")
T = TypeVar("T")
Route = Callable[P, Coroutine[Any, Any, Response]]


class Threads:
    """So many threads at once, and no more; so many may queue for one."""

    def __init__(self, threads: int, queue: int = MOST_QUEUED) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._most_queued = queue

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work gives in a thread. Raise TooBusy when too many queue for one."""
        if self._limiter.statistics().tasks_waiting >= self._most_queued:
            raise TooBusy
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


class Shared(Generic[T]):
    """An answer that is the same for all who ask: who asks while it is made waits for that one."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._thread = anyio.CapacityLimiter(1)
        self._making: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the answer; never more than one thread makes it."""
        if self._making is None or self._making.done():
            made = anyio.to_thread.run_sync(self._make, limiter=self._thread)
            self._making = asyncio.ensure_future(made)
        return await asyncio.shield(self._making)


_READS, _WAITS = Threads(LONG_READS), Threads(LONG_WAITS)
_ANSWERS = Threads(LARGE_ANSWERS, queue=1_000)
_FINISHED = Threads(FINISHED_TURNS, queue=MOST_WAITED)


async def read_finished(work: Callable[[], T]) -> T:
    """Return what the work gives in one of few threads.

    Hundreds of requests may stop waiting at once; the loop stands still while it starts threads.
    """
    return await _FINISHED.run(work)


async def answer_large(work: Callable[[], Any]) -> Response:
    """Return an answer of megabytes that is made and written in a thread, after a wait."""
    return await _ANSWERS.run(partial(_written, work))


def large(route: Callable[P, Any]) -> Route[P]:
    """Read and write the route's answer in a thread: megabytes would hold up the loop."""
    return _apart(route, _ANSWERS)


def long_read(route: Callable[P, Any]) -> Route[P]:
    """Run the route in one of the few threads for what reads much; its answer is written there."""
    return _apart(route, _READS)


def long_wait(route: Callable[P, Any]) -> Route[P]:
    """Run the route in one of the few threads for what waits long, or works long."""
    return _apart(route, _WAITS)


def _apart(route: Callable[P, Any], threads: Threads) -> Route[P]:
    @wraps(route)
    async def run(*args: P.args, **kwargs: P.kwargs) -> Response:
        return await threads.run(partial(_written, partial(route, *args, **kwargs)))

    return run


def _written(work: Callable[[], Any]) -> Response:
    answer = work()
    if isinstance(answer, Response):
        return answer
    return Response(to_json(answer, inf_nan_mode="null"), media_type="application/json")
