"""Many viewers of one event stream in a separate process: what each received, and how late."""

import asyncio
import gc
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

CONNECT_SECONDS = 90.0
PATIENCE = 90.0
LAST = "the last one"
SPREAD = 50  # viewers that connect together
_REQUEST = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n\r\n"
_TEXT = re.compile(rb'"text":"((\d+) (\d+) [^"]*)"')


def text_of(number: int, is_last: bool) -> str:
    """Return the text of an event that is sent now."""
    return f"{number} {time.monotonic_ns()} {LAST if is_last else 'and a few more words'}"


def digest_of(texts: list[bytes]) -> str:
    """Return the digest of everything that a viewer must have received, in order."""
    return hashlib.sha256(b"\n".join(texts)).hexdigest()


def read_texts(chunks: list[tuple[float, bytes]]) -> tuple[list[bytes], list[float]]:
    """Return the texts in a stream's timed chunks, and how late each arrived."""
    texts, late, rest = [], [], b""
    for came, chunk in chunks:
        end = (rest + chunk).rfind(b"\n\n") + 2
        whole, rest = (rest + chunk)[:end], (rest + chunk)[end:]
        for text, _, sent in _TEXT.findall(whole):
            texts.append(text)
            late.append(came - int(sent) / 1e9)
    return texts, late


@dataclass(frozen=True)
class Heard:
    """The digest of what each viewer received, the delay of each event, the viewers' CPU time."""

    digests: list[str]
    late: list[float]
    cpu: float


class Crowd:
    """Connected viewers; `wait` returns what they received until the last event."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def wait(self) -> Heard:
        """Wait until all have received the last event."""
        assert self._pipe.poll(PATIENCE), "the last event does not reach all viewers"
        heard: Heard = self._pipe.recv()
        return heard


@contextmanager
def crowd(watch: Callable[..., Any], *arguments: object) -> Iterator[Crowd]:
    """Let viewers watch for the block: `watch(pipe, *arguments)` in a separate process."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=watch, args=(theirs, *arguments))
    process.start()
    try:
        assert ours.poll(CONNECT_SECONDS), "the viewers do not connect"
        ours.recv()
        yield Crowd(ours)
    finally:
        process.terminate()
        process.join()


def watch_over_http(pipe: Connection, port: int, path: str, viewers: int) -> None:
    """Open `viewers` connections to a path; tell the pipe when they are open, then the result."""
    gc.disable()  # nothing here needs collecting, and a pause would look like a late event
    asyncio.run(_watch_all(pipe, port, path, viewers))


async def _watch_all(pipe: Connection, port: int, path: str, viewers: int) -> None:
    loop = asyncio.get_running_loop()
    watching = [_Viewer(_REQUEST.format(path=path).encode()) for _ in range(viewers)]
    for start in range(0, viewers, SPREAD):
        some = watching[start : start + SPREAD]
        await asyncio.gather(
            *(loop.create_connection(lambda v=one: v, "127.0.0.1", port) for one in some)
        )
        await asyncio.gather(*(one.connected.wait() for one in some))
    await asyncio.sleep(1)  # by then each has received what it had missed
    await tell(pipe, [(one.chunks, one.ended) for one in watching])


async def tell(
    pipe: Connection, watching: list[tuple[list[tuple[float, bytes]], asyncio.Event]]
) -> None:
    """Report to the pipe that all are connected, then what they received until the last event."""
    pipe.send("connected")
    before = time.process_time()
    await asyncio.gather(*(ended.wait() for _, ended in watching))
    cpu = time.process_time() - before
    read = [read_texts(chunks) for chunks, _ in watching]
    late = [seconds for _, all_late in read for seconds in all_late]
    pipe.send(Heard([digest_of(texts) for texts, _ in read], late, cpu))
    await asyncio.sleep(PATIENCE)  # stay connected until this process is terminated


class _Viewer(asyncio.Protocol):
    """Stores timed chunks and parses them at the end, so that parsing does not disturb the run."""

    def __init__(self, request: bytes) -> None:
        self.chunks: list[tuple[float, bytes]] = []
        self.connected = asyncio.Event()
        self.ended = asyncio.Event()
        self._request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.chunks.append((time.monotonic(), data))
        if b": connected" in data:
            self.connected.set()
        before = self.chunks[-2][1][-len(LAST) :] if len(self.chunks) > 1 else b""
        if LAST.encode() in before + data:
            self.ended.set()
