"""The clients of B13: each takes its turns one after another and reads the answers as they stream.

They write to plain sockets, so that they cost little beside what is measured. Each question has its
own connection, because between two questions of a person servers close an idle one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import orjson

from backend.types import JSON

# Takes one turn: sends a question and returns the streamed text of its answer.
Ask = Callable[[str], Awaitable[str]]
Opened = AbstractAsyncContextManager[Ask]


@dataclass(frozen=True)
class Taken:
    """A completed turn: its text, and the seconds from the question to the end."""

    text: str
    seconds: float


async def take_turns(clients: Sequence[Sequence[tuple[Opened, Sequence[str]]]]) -> list[Taken]:
    """Let all clients go through their sessions concurrently; return the turns in order."""
    each = await asyncio.gather(*map(_go_through, clients))
    return [taken for one in each for taken in one]


async def _go_through(sessions: Sequence[tuple[Opened, Sequence[str]]]) -> list[Taken]:
    taken = []
    for opened, questions in sessions:
        async with opened as ask:
            for question in questions:
                started = time.perf_counter()
                text = await ask(question)
                taken.append(Taken(text, time.perf_counter() - started))
    return taken


@asynccontextmanager
async def open_session(port: int, session_id: str) -> AsyncIterator[Ask]:
    """Follow a session's events, as a page does, and send it messages."""
    path = f"/api/v1/sessions/{session_id}"
    async with _connect(port) as following:
        told = await following.send("GET", f"{path}/events")
        assert (await anext(told)).startswith(b": connected")
        events = _events(told)

        async def ask(question: str) -> str:
            body = orjson.dumps({"message": question})
            async with _connect(port) as asking:
                assert [piece async for piece in await asking.send("POST", f"{path}/chat", body)]
            pieces: list[str] = []
            async for name, told in events:
                if name == b"turn_finished":
                    assert told["turn"]["status"] == "succeeded", told
                    return "".join(pieces)
                if name == b"text_delta":
                    pieces.append(told["text"])
            raise AssertionError("the events end before the turn")

        yield ask


@asynccontextmanager
async def open_thread(port: int, thread_id: str) -> AsyncIterator[Ask]:
    """Send messages to a thread of the peer, which answers each with a stream."""

    async def ask(question: str) -> str:
        body = orjson.dumps({"message": question})
        async with _connect(port) as asking:
            answer = await asking.send("POST", f"/chat/{thread_id}", body)
            return "".join([told["text"] async for _, told in _events(answer)])

    yield ask


class _Wire:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, method: str, path: str, body: bytes = b"") -> AsyncIterator[bytes]:
        """Send a request; return the pieces of the answer's body, all of which must be read."""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        kind = "Content-Type: application/json\r\nPrefer: respond-async\r\n\r\n"
        self._writer.write((head + kind).encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        assert answer.startswith((b"http/1.1 200", b"http/1.1 202")), answer
        _, _, length = answer.partition(b"content-length: ")
        return self._read(int(length.split(b"\r\n")[0]) if length else None)

    async def _read(self, length: int | None) -> AsyncIterator[bytes]:
        if length is not None:
            yield await self._reader.readexactly(length)
            return
        while (size := await self._reader.readline()) != b"0\r\n":
            assert size, "the stream breaks off"
            yield (await self._reader.readexactly(int(size, 16) + 2))[:-2]
        await self._reader.readline()


@asynccontextmanager
async def _connect(port: int) -> AsyncIterator[_Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield _Wire(reader, writer)
    finally:
        writer.close()


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[tuple[bytes, JSON]]:
    """Yield the events of a stream with their names, skipping comments."""
    rest = b""
    async for piece in pieces:
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            lines = (line.partition(b": ") for line in event.split(b"\n"))
            fields = {name: value for name, _, value in lines if name}
            if b"data" in fields:
                yield fields.get(b"event", b""), orjson.loads(fields[b"data"])
