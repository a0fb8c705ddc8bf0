"""Thread pools for slow routes and large answers, apart from the loop and from other threads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar, cast

import anyio
import anyio.to_thread
from pydantic_core import to_json
from starlette.responses import Response

from backend.errors.base import TooBusy

LONG_READS = 4  # threads for routes that read much of the database; more requests queue
LONG_WAITS = 8  # threads for routes that wait for workers, or delete
LARGE_ANSWERS = 16  # threads for routes that may read and write megabytes
FINISHED_TURNS = 4  # threads for the answers of turns that requests have waited for
MOST_WAITED = 4_000  # twice the limit of waiting requests, so that none has waited in vain
MOST_QUEUED = 100

P = ParamSpec("P")
T = TypeVar("T")
Route = Callable[P, Coroutine[Any, Any, Response]]


class Threads:
    """A bounded number of threads, with a bounded queue for them."""

    def __init__(self, threads: int, queue: int = MOST_QUEUED) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._most_queued = queue

    async def run(self, work: Callable[[], T]) -> T:
        """Return the work's result, run in a thread. Raise TooBusy if the queue is full."""
        if self._limiter.statistics().tasks_waiting >= self._most_queued:
            raise TooBusy
        return await self.step(work)

    async def step(self, work: Callable[[], T]) -> T:
        """Return the result of one step of work that was admitted before, however many wait."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


class Shared(Generic[T]):
    """A result that is the same for all callers: those that come while it is made share it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._thread = anyio.CapacityLimiter(1)
        self._making: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """Return the result; at most one thread makes it at a time."""
        if self._making is None or self._making.done():
            making = anyio.to_thread.run_sync(self._make, limiter=self._thread)
            self._making = asyncio.ensure_future(making)
        return await asyncio.shield(self._making)


_READS, _WAITS = Threads(LONG_READS), Threads(LONG_WAITS)
_ANSWERS = Threads(LARGE_ANSWERS, queue=1_000)
_FINISHED = Threads(FINISHED_TURNS, queue=MOST_WAITED)


async def read_finished(work: Callable[[], T]) -> T:
    """Return the work's result, run in one of a few threads.

    Hundreds of requests may stop waiting together, and starting threads blocks the loop.
    """
    return await _FINISHED.run(work)


async def read_long(work: Callable[[], T]) -> T:
    """Return the work's result, run in one of the few threads for large reads."""
    return await _READS.run(work)


async def answer_large(work: Callable[[], Any]) -> Response:
    """Return a response of megabytes, made and serialised in a thread."""
    return await _ANSWERS.run(partial(_written, work))


def large(route: Callable[P, Any]) -> Route[P]:
    """Run the route and serialise its answer in a thread: megabytes would block the loop."""
    return _apart(route, _ANSWERS)


def long_read(route: Callable[P, Any]) -> Route[P]:
    """Run the route, and serialise its answer, in one of the few threads for large reads."""
    return _apart(route, _READS)


async def stream_long(pieces: Iterator[T]) -> AsyncIterator[T]:
    """Yield the pieces, each made in one of the few threads for large reads.

    An export that has begun waits as long as it must: it cannot be refused any more.
    """
    end = object()
    while (piece := await _READS.step(partial(next, pieces, end))) is not end:
        yield cast(T, piece)


def long_wait(route: Callable[P, Any]) -> Route[P]:
    """Run the route in one of the few threads for work that waits or takes long."""
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
