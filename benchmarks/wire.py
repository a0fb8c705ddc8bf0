"""Count bytes in transit: an event stream read from its socket, a proxy in front of a server."""

import json
import socket
import threading
import zlib
from contextlib import suppress
from typing import Any, Self

SIZE = 65_536


class Stream:
    """Reads a session's events in a thread, from a plain socket, and counts all received bytes."""

    def __init__(self, port: int, session_id: str, encoding: str) -> None:
        self.bytes = 0
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.sendall(
            f"GET /api/v1/sessions/{session_id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Accept-Encoding: {encoding}\r\n\r\n".encode()
        )
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding == "gzip" else None
        self._text: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def text_until_end(self, seconds: float) -> str:
        """Return all deltas joined, once the turn has ended."""
        assert self._ended.wait(seconds), "the turn does not end"
        return "".join(self._text)

    def _read(self) -> None:
        with self._socket.makefile("rb") as answer, suppress(OSError, ValueError):
            while (line := answer.readline()) != b"\r\n":
                self.bytes += len(line)
            rest = b""
            while size := int(head := answer.readline(), 16):
                body = answer.read(size + 2)
                self.bytes += len(head) + len(body)
                rest += self._inflate.decompress(body[:-2]) if self._inflate else body[:-2]
                *events, rest = rest.split(b"\n\n")
                for event in events:
                    self._take(event)

    def _take(self, event: bytes) -> None:
        fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if line[:1] != b":")
        if fields.get(b"event") == b"text_delta":
            data: dict[str, Any] = json.loads(fields[b"data"])
            self._text.append(data["text"])
        elif fields.get(b"event") == b"turn_finished":
            self._ended.set()


class Proxy:
    """Forwards connections to a port of this machine and counts the bytes sent back.

    `port` is set once the server is there, which must know `url` to answer under it.
    """

    def __init__(self) -> None:
        self.bytes_down = 0
        self.port = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_down: bool) -> None:
        with suppress(OSError):
            while data := source.recv(SIZE):
                self.bytes_down += len(data) if is_down else 0
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
