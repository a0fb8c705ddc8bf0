"""Work in a thread that stops at once when its time is up or its turn is stopped."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TypeVar

from backend.data.errors import QueryStopped, QueryTimedOut

_NUDGE_SECONDS = 0.05

T = TypeVar("T")


class Interrupt:
    """One piece of work's way to be stopped: what runs says how it can be interrupted."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._action: Callable[[], object] | None = None
        self.is_set = False

    @contextmanager
    def covers(self, action: Callable[[], object]) -> Iterator[None]:
        """While the block runs, a stop calls `action`; raises QueryStopped if one came before."""
        self.check()
        with self._lock:
            self._action = action
        try:
            yield
        finally:
            with self._lock:
                self._action = None

    def check(self) -> None:
        """Raise QueryStopped if the work was stopped."""
        if self.is_set:
            raise QueryStopped

    def fire(self) -> None:
        """Stop the work: from now on `check` raises, and what runs is interrupted."""
        self.is_set = True
        with self._lock:
            if self._action:
                # A connection that is just closing may refuse; the work ends either way.
                with suppress(Exception):
                    self._action()


async def run_stoppable(
    executor: Executor, work: Callable[[Interrupt], T], seconds: float, interrupt: Interrupt
) -> T:
    """Run `work` in a thread; at the limit or on cancellation interrupt it and do not wait."""
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(executor, work, interrupt)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(future)
    except TimeoutError:
        _stop(loop, future, interrupt)
        raise QueryTimedOut(
            f"The query took longer than {seconds:g} s and was stopped. "
            "Filter or aggregate more, and try again."
        ) from None
    except asyncio.CancelledError:
        _stop(loop, future, interrupt)
        raise


def _stop(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[T]", interrupt: Interrupt
) -> None:
    """Interrupt until the thread has ended: an engine ignores a stop just before it starts."""
    if future.done():
        # Taken, so that nobody is told of an exception that was never retrieved.
        _ = future.cancelled() or future.exception()
        return
    interrupt.fire()
    loop.call_later(_NUDGE_SECONDS, _stop, loop, future, interrupt)
