"""What subscribers of a running agent learn, and how they wait for it."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any, Literal

from langchain_core.messages import BaseMessage

from colloquy_kit.types import JSON

Status = Literal["idle", "running", "interrupted", "failed", "closed"]


@dataclass(frozen=True)
class Delta:
    """A piece of an answer as it arrives; the complete one follows as MessageSaved."""

    message_id: str
    text: str
    thinking: str = ""


@dataclass(frozen=True)
class MessageSaved:
    """A complete message, which is stored; `rows`: the display messages that it was split into."""

    message: BaseMessage
    rows: Sequence[Any]


@dataclass(frozen=True)
class StatusChanged:
    """The agent has begun, ended or failed; `questions`: what an interrupted one waits for."""

    status: Status
    error: Exception | None = None
    questions: Sequence[JSON] = ()


Event = Delta | MessageSaved | StatusChanged


class Subscription:
    """The events since it began, for one reader: `for event in …` or `async for event in …`.

    It ends with the agent, or with `close`.
    """

    def __init__(self, leave: Callable[["Subscription"], None]) -> None:
        self._leave = leave
        self._events: deque[Event] = deque()
        self._arrived = Condition()
        self._is_closed = False
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def put(self, event: Event) -> None:
        """Add an event, from any thread."""
        with self._arrived:
            self._events.append(event)
            self._wake()

    def close(self) -> None:
        """End the subscription; its reader still gets what has arrived."""
        self._leave(self)
        with self._arrived:
            self._is_closed = True
            self._wake()

    def get(self, timeout: float | None = None) -> Event | None:
        """Return the next event; None if it is closed, or if none arrives in so many seconds."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._events or self._is_closed, timeout)
            return self._events.popleft() if self._events else None

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        arrived = asyncio.Event()
        while True:
            with self._arrived:
                self._waiting = (asyncio.get_running_loop(), arrived)
                arrived.clear()
                event = self._events.popleft() if self._events else None
                if event is None and self._is_closed:
                    return
            if event is None:
                await arrived.wait()
            else:
                yield event

    def _wake(self) -> None:
        self._arrived.notify_all()
        if self._waiting is not None:
            loop, arrived = self._waiting
            with contextlib.suppress(RuntimeError):  # the reader's loop has ended
                loop.call_soon_threadsafe(arrived.set)
