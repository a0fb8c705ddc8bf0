"""Passing events from an agent on the loop to its turn's thread: deltas joined, steps awaited."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from queue import SimpleQueue
from types import TracebackType
from typing import NamedTuple

from backend.agents.steps.events import Outbox, RunEvent, Step, TextDelta, ThinkingDelta
from backend.turns.process.agent_loop import AgentLoop

FIRST_WINDOW = 0.03  # seconds in which deltas are joined; longer for long answers
LONGEST_WINDOW = 0.07  # a page draws every 60 ms
GROWTH = 1.5
CLOSE_SECONDS = 2.0

Agent = Callable[[Outbox], Awaitable[None]]
log = logging.getLogger(__name__)


class _Handed(NamedTuple):
    """An event for the thread. `saved`: the future that a step's agent waits for."""

    event: RunEvent
    saved: "asyncio.Future[None] | None" = None


class _End(NamedTuple):
    """The agent has ended or must end, normally or with an error."""

    error: BaseException | None


class TurnOutbox:
    """Runs an agent on the loop for one thread, which records what the agent hands over.

    `with TurnOutbox(loop, agent) as outbox: outbox.deliver(record)`. The loop calls `put` and
    `step`; everything else is for the thread. If recording raises, or the turn is cancelled, the
    thread leaves immediately and the agent is cancelled; `step` raises the reason to its caller.
    """

    def __init__(self, loop: AgentLoop, agent: Agent) -> None:
        self._loop = loop.loop
        self._agent = agent
        self._queue: SimpleQueue[_Handed | _End] = SimpleQueue()
        self._delta: TextDelta | ThinkingDelta | None = None
        self._pieces: list[str] = []
        self._flush_at: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[BaseException | None] | None = None
        self._reason: BaseException | None = None
        self._ended = threading.Event()

    def __enter__(self) -> "TurnOutbox":
        self._loop.call_soon_threadsafe(self._start)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cancel(error or asyncio.CancelledError())
        if not self._ended.wait(CLOSE_SECONDS):
            log.warning("an ended turn's agent did not finish in time and was abandoned")

    def put(self, event: RunEvent) -> None:
        """Hand over what needs no answer; deltas that arrive together are joined."""
        if isinstance(event, TextDelta | ThinkingDelta):
            self._join(event)
        else:
            self._hand_over(_Handed(event))

    async def step(self, step: Step) -> None:
        """Hand over a step and return once it is saved.

        Raise what saving it raised, or why the turn must end.
        """
        self._check_open()
        saved = self._loop.create_future()
        self._hand_over(_Handed(step, saved))
        try:
            await saved
        except asyncio.CancelledError:
            self._check_open()
            raise

    def deliver(self, record: Callable[[RunEvent], None]) -> None:
        """Record what is handed over until the agent ends; raise the error that ended it."""
        while isinstance(handed := self._queue.get(), _Handed):
            record(handed.event)
            if handed.saved:
                self._loop.call_soon_threadsafe(_release, handed.saved)
        if handed.error:
            raise handed.error

    def cancel(self, reason: BaseException) -> None:
        """Cancel the agent now and raise `reason` in its turn's thread. Call it from any thread."""
        self._loop.call_soon_threadsafe(self._cancel, reason)

    def _start(self) -> None:
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._end)  # also called when it is cancelled before it runs

    async def _run(self) -> BaseException | None:
        """Run the agent; return the error that ended it, which must not end the loop."""
        try:
            await self._agent(self)
        except BaseException as error:  # noqa: BLE001  (the turn's thread raises it again)
            return error
        return None

    def _end(self, task: "asyncio.Task[BaseException | None]") -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.result()
        self._hand_over(_End(error))
        self._ended.set()

    def _cancel(self, reason: BaseException) -> None:
        """Cancel the agent only once: a second time would interrupt its cleanup."""
        if self._reason or self._task is None or self._task.done():
            return
        self._reason = reason
        self._hand_over(_End(reason))
        self._task.cancel()

    def _check_open(self) -> None:
        if self._reason:
            raise self._reason

    def _hand_over(self, handed: _Handed | _End) -> None:
        self._flush()
        self._queue.put(handed)

    def _join(self, delta: TextDelta | ThinkingDelta) -> None:
        """Hand over the first delta immediately, then everything within a window together."""
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
        """Hand over the joined deltas; windows grow while more arrive, as each costs an event."""
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
            self._queue.put(_Handed(replace(self._delta, text="".join(self._pieces))))
            self._pieces.clear()


def _release(saved: "asyncio.Future[None]") -> None:
    if not saved.done():  # the turn may have been cancelled
        saved.set_result(None)
