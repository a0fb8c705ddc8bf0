"""From the agents' loop to a turn's thread: deltas joined, each step handed over and waited for."""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from types import TracebackType

from backend.agents.steps.events import RunEvent, StepFinished, TextDelta, ThinkingDelta
from backend.turns.process.agent_loop import AgentLoop

FIRST_WINDOW = (
    0.03  # seconds in which deltas are joined; an answer that keeps coming has longer ones
)
LONGEST_WINDOW = 0.1
GROWTH = 1.5
CLOSE_SECONDS = 10


@dataclass(frozen=True)
class _End:
    """The agent has ended, well or by an error."""

    error: BaseException | None


class AgentFeed:
    """An agent's events for one thread: `with AgentFeed(...) as feed: for event in feed: ...`.

    Deltas that arrive together come joined. The agent goes on after a step only when the thread
    asks for the next event: what it has done is saved before it does more.
    """

    def __init__(self, loop: AgentLoop, events: AsyncGenerator[RunEvent, None]) -> None:
        self._loop = loop.loop
        self._events = events
        self._ready: queue.SimpleQueue[RunEvent | _End] = queue.SimpleQueue()
        self._delta: TextDelta | ThinkingDelta | None = None
        self._pieces: list[str] = []
        self._flush_at: asyncio.TimerHandle | None = None
        self._saved = asyncio.Event()
        self._reason: BaseException | None = None
        self._task: asyncio.Task[BaseException | None] | None = None
        self._ended = threading.Event()

    def __enter__(self) -> "AgentFeed":
        self._loop.call_soon_threadsafe(self._start)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._cancel)
        self._ended.wait(CLOSE_SECONDS)

    def __iter__(self) -> Iterator[RunEvent]:
        while True:
            event = self._ready.get()
            if isinstance(event, _End):
                if event.error:
                    raise event.error
                return
            yield event
            if isinstance(event, StepFinished):
                self._loop.call_soon_threadsafe(self._saved.set)

    def cancel(self, reason: BaseException) -> None:
        """End the agent at once; the thread gets `reason` raised. For any thread."""
        self._reason = self._reason or reason
        self._loop.call_soon_threadsafe(self._cancel)

    def _start(self) -> None:
        self._task = self._loop.create_task(self._pump())
        self._task.add_done_callback(self._end)  # also called when it is cancelled before it runs
        if self._reason:
            self._task.cancel()

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()

    async def _pump(self) -> BaseException | None:
        """Hand all events over; give the error that has ended the agent, if any."""
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    await self._hand_over(event)
        except BaseException as error:  # noqa: BLE001  (the turn's thread raises it again)
            return error
        return None

    def _end(self, task: "asyncio.Task[BaseException | None]") -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.result()
        if isinstance(error, asyncio.CancelledError):
            error = self._reason or error
        self._flush()
        self._ready.put(_End(error))
        self._ended.set()

    async def _hand_over(self, event: RunEvent) -> None:
        if isinstance(event, TextDelta | ThinkingDelta):
            self._join(event)
            return
        self._flush()
        if isinstance(event, StepFinished):
            self._saved.clear()
            self._ready.put(event)
            await self._saved.wait()
        else:
            self._ready.put(event)

    def _join(self, delta: TextDelta | ThinkingDelta) -> None:
        """Hand the first delta over at once, then what comes within a window together."""
        last = self._delta
        if last and (type(last), last.message_id) != (type(delta), delta.message_id):
            self._flush()
        self._delta = delta
        self._pieces.append(delta.text)
        if self._flush_at is None:
            self._put_delta()
            self._open_window(FIRST_WINDOW)

    def _open_window(self, seconds: float) -> None:
        self._flush_at = self._loop.call_later(seconds, self._close_window, seconds)

    def _close_window(self, seconds: float) -> None:
        """Hand over what has come. While more comes the windows grow, each costs an event."""
        self._flush_at = None
        if self._pieces:
            self._put_delta()
            self._open_window(min(seconds * GROWTH, LONGEST_WINDOW))

    def _flush(self) -> None:
        if self._flush_at:
            self._flush_at.cancel()
            self._flush_at = None
        self._put_delta()

    def _put_delta(self) -> None:
        if self._delta and self._pieces:
            self._ready.put(replace(self._delta, text="".join(self._pieces)))
            self._pieces.clear()
