"""Limits of WebSocket messages that are still arriving: their size, their pieces, their pace.

The server holds what has arrived of a message until its end, which may never come.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

PIECE_BYTES = 100  # of memory for each piece of a message, even an empty one


@dataclass(frozen=True)
class MessageLimits:
    """The limits of messages: sizes in bytes, time in seconds."""

    largest: int = 16_000_000  # twice the largest text that a page takes, a template
    arriving: int = 64_000_000  # of all messages of the process that are still arriving
    pieces: int = 10_000  # of one message
    seconds: float = 15.0  # in which `pace` bytes must arrive, or the end
    pace: int = 50_000


def limit_messages(limits: MessageLimits) -> Any:
    """Return uvicorn's `ws` argument; `ws_max_size` has to be the largest message."""
    return partial(LimitedSocket, limits=limits, room=_Room(limits.arriving))


class LimitedSocket(WebSocketsSansIOProtocol):
    """A WebSocket whose client cannot make the server hold much by never ending a message."""

    def __init__(self, *args: Any, limits: MessageLimits, room: "_Room", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._room = room
        self._pieces = self._taken = self._at_deadline = 0
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def held(self) -> int:
        """How many bytes an unfinished message takes."""
        return self._taken + self._pieces * PIECE_BYTES + len(self.conn.reader.buffer)

    def give_way(self) -> None:
        """End the connection, because messages of others need the room."""
        self._refuse(CloseCode.TRY_AGAIN_LATER, "too many large messages arrive at once")

    # Called by asyncio.

    def data_received(self, data: bytes) -> None:
        """Take received data, as far as there is room for what is unfinished."""
        super().data_received(data)
        if not self.held:
            self._forget()
            return
        self._room.make_for(self)
        if self._pieces > self._limits.pieces:
            self._refuse(CloseCode.POLICY_VIOLATION, "a message in too many pieces")
        elif self._deadline is None:
            self._expect_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection; see uvicorn."""
        self._forget()
        super().connection_lost(exc)

    # Called by uvicorn for each frame.

    def handle_text(self, event: Frame) -> None:
        """Take a message or its first piece."""
        super().handle_text(event)
        self._count(event)

    def handle_bytes(self, event: Frame) -> None:
        """Take a message or its first piece."""
        super().handle_bytes(event)
        self._count(event)

    def handle_cont(self, event: Frame) -> None:
        """Take another piece of a message."""
        super().handle_cont(event)
        self._count(event)

    def _count(self, frame: Frame) -> None:
        self._pieces = 0 if frame.fin else self._pieces + 1
        self._taken = 0 if frame.fin else self._taken + len(frame.data)
        if frame.fin:
            self._forget()

    def _expect_more(self) -> None:
        loop = asyncio.get_running_loop()
        self._at_deadline = self.held
        self._deadline = loop.call_later(self._limits.seconds, self._check_pace)

    def _check_pace(self) -> None:
        if self.held - self._at_deadline >= self._limits.pace:
            self._expect_more()
        else:
            self._refuse(CloseCode.POLICY_VIOLATION, "a message without its end")

    def _forget(self) -> None:
        self._room.forget(self)
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, code: CloseCode, reason: str) -> None:
        self._forget()
        self.stop_keepalive()
        self.conn.fail(code, reason)
        self.handle_parser_exception()
        self.frames.clear()
        self.conn.reader.buffer.clear()
        self._taken = self._pieces = 0


class _Room:
    """The unfinished messages of a process, the oldest first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._arriving: dict[LimitedSocket, None] = {}

    def make_for(self, socket: LimitedSocket) -> None:
        """Refuse the oldest if needed: a client of usual speed would have finished."""
        self._arriving.setdefault(socket)
        oldest = iter(tuple(self._arriving))
        while sum(each.held for each in self._arriving) > self._size:
            next(oldest).give_way()

    def forget(self, socket: LimitedSocket) -> None:
        """Remove a socket whose message has arrived, or whose client has gone."""
        self._arriving.pop(socket, None)
