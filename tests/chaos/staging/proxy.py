"""A small TCP proxy between two parts, whose wire a test may cut, block or slow down."""

import asyncio
import contextlib
import socket
import struct
import threading
from enum import StrEnum

CHUNK = 65_536


class Wire(StrEnum):
    """What the wire does: passes bytes; swallows them; passes them late; cuts connections."""

    PASS = "pass"
    BLACKHOLE = "blackhole"
    LATENCY = "latency"
    RESET = "reset"


class Proxies:
    """All proxies of a test, on one event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Proxies":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()

    def open(self, host: str, port: int) -> "Proxy":
        """Open a proxy before a server; it may be down now and then."""
        proxy = Proxy(self._loop, host, port)
        asyncio.run_coroutine_threadsafe(proxy.listen(), self._loop).result(timeout=10)
        return proxy

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=5) if others else None


class Proxy:
    """One wire to a server; `port` is where clients connect instead."""

    def __init__(self, loop: asyncio.AbstractEventLoop, host: str, port: int) -> None:
        self._loop = loop
        self._target = (host, port)
        self._wire = Wire.PASS
        self._seconds = 0.0
        self._passes = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._socket.getsockname()[1]

    def set_wire(self, wire: Wire, seconds: float = 0.0) -> None:
        """Change what the wire does, for open connections too; `seconds` is the latency."""

        async def change() -> None:
            self._wire, self._seconds = wire, seconds
            if wire is Wire.BLACKHOLE:
                self._passes.clear()
            else:
                self._passes.set()
            if wire is Wire.RESET:
                self._reset_all()

        asyncio.run_coroutine_threadsafe(change(), self._loop).result(timeout=10)

    async def listen(self) -> None:
        """Begin to take connections."""
        self._passes.set()
        await asyncio.start_server(self._take, sock=self._socket, limit=CHUNK)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._wire is Wire.RESET:
            _reset(writer)
            return
        await self._passes.wait()
        try:
            server_reader, server_writer = await asyncio.open_connection(*self._target)
        except OSError:
            _reset(writer)
            return
        both = {writer, server_writer}
        self._writers |= both
        try:
            await asyncio.gather(
                self._pump(reader, server_writer), self._pump(server_reader, writer)
            )
        except OSError:
            for one in both:
                _reset(one)
        finally:
            self._writers -= both
            for one in both:
                one.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            if self._wire is Wire.LATENCY:
                await asyncio.sleep(self._seconds)
            await self._passes.wait()
            writer.write(data)
            await writer.drain()
        await self._passes.wait()
        with contextlib.suppress(OSError):
            writer.write_eof()

    def _reset_all(self) -> None:
        for writer in list(self._writers):
            _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Cut a connection so that the other side gets an error, not an end."""
    connection = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
