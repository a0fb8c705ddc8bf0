"""Limits of connections: deadlines for slow clients, and a bound on their number.

Uvicorn waits forever for the rest of a header or body, or for a client that does not read; it
closes an idle connection after 5 s, just when an httpx client may reuse it.
"""

import asyncio
import heapq
import json
import resource
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from backend.web.admission import Admission
from backend.web.unchunked import without_chunks

MOST_FILES = 65_536
FEWEST = 100
OTHER_FILES = 400  # open files of a process besides connections: database, Redis, logs
HEALTH_PATHS = frozenset({b"/healthz"})
FLUSH_SECONDS = 5.0  # to send what was written before closing
YOUNG_SECONDS = 1.0  # a new connection's time to send a request before it may be closed


@dataclass(frozen=True)
class ConnectionLimits:
    """The limits of clients: time in seconds, sizes, and the number of connections."""

    # Between two requests: longer than clients and proxies keep a connection (nginx: 60 s), or
    # closing it would collide with a request on its way.
    idle_seconds: int = 75
    header_seconds: float = 10.0  # for a whole header, from its first byte or from connecting
    body_seconds: float = 15.0  # in which `body_bytes` of a body must arrive, or its end
    body_bytes: int = 50_000
    reading_seconds: float = 60.0  # without reading anything of the response
    header_bytes: int = 64_000
    headers: int = 200
    most: int = 4_000  # connections of the process; beyond that, idle ones are closed
    reserve: int = 200  # more connections, for health checks only


def limit_connections(
    limits: ConnectionLimits, health_paths: frozenset[bytes] = HEALTH_PATHS
) -> Any:
    """Return uvicorn's `http` argument, and raise the process's limit of open files.

    `health_paths` are answered before others, even if there are too many connections.
    """
    most = max(_raise_open_files() - limits.reserve, FEWEST)
    limits = replace(limits, most=min(limits.most, most))
    admission = Admission()
    return partial(LimitedConnection, limits=limits, health_paths=health_paths, admission=admission)


def _raise_open_files() -> int:
    """Raise the process's limit of open files; return how many of them may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        soft = max(soft, wanted)
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft - OTHER_FILES


class LimitedConnection(HttpToolsProtocol):
    """One connection, which a client cannot hold open by sending or reading too little."""

    def __init__(
        self,
        *args: Any,
        limits: ConnectionLimits,
        health_paths: frozenset[bytes],
        admission: Admission,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._health_paths = health_paths
        self._admission = admission
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._in_header = False
        self._header_bytes = self._body_bytes = 0
        self._quiet_since = self.loop.time()
        self.timeout_keep_alive = limits.idle_seconds

    @property
    def is_asking(self) -> bool:
        """Whether a complete request is being answered."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    # Called by asyncio.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the connection if there is room for it; see uvicorn."""
        super().connection_made(transport)
        self._admission.note_arrival()
        is_in_reserve = len(self.connections) <= self._limits.most + self._limits.reserve
        self._make_room(YOUNG_SECONDS if is_in_reserve else 0.0)
        self._expect(self._limits.header_seconds, self._header_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection; see uvicorn."""
        self._forget_deadlines()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data, unless a header is too long."""
        if self._deadline is None and not self.is_asking:
            self._expect(self._limits.header_seconds, self._header_is_late)
        super().data_received(data)
        if self._in_header:
            self._header_bytes += len(data)
            if self._header_bytes > self._limits.header_bytes:
                self._end(431, self._too_long)

    def pause_writing(self) -> None:
        """Wait for the client to read, but not forever."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume writing."""
        if self._unread:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    # Called by the parser.

    def on_message_begin(self) -> None:
        """Expect the end of a header."""
        self._in_header, self._header_bytes = True, 0
        if self._deadline is None:
            self._expect(self._limits.header_seconds, self._header_is_late)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Pass the request to the application, or refuse it; then expect the body."""
        self._in_header, self._body_bytes = False, 0
        self._expect(self._limits.body_seconds, self._body_is_late)
        self._admission.note_arrival()
        answer, refusal = self.app, self._refusal()
        if refusal:
            self.app, self.url = refusal, b"/"  # a URL that is too long may be malformed, too
        elif not self._is_health:
            self.app = self._admission.queue(answer)
        if self.parser.get_http_version() == "1.0":
            self.app = without_chunks(self.app, lambda: self.cycle)
        super().on_headers_complete()
        self.app = answer

    def on_body(self, body: bytes) -> None:
        """Receive a piece of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop expecting data of this request."""
        self._expect_nothing()
        super().on_message_complete()

    # Called by uvicorn.

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._quiet_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP request in the same form as every other error."""
        self._end(400, "This is no valid HTTP request. Check its method, address and headers.")

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to another protocol."""
        self._forget_deadlines()
        super().handle_websocket_upgrade()

    # Deadlines.

    def _expect(self, seconds: float, otherwise: Callable[[], None]) -> None:
        self._expect_nothing()
        self._deadline = self.loop.call_later(seconds, otherwise)

    def _expect_nothing(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _forget_deadlines(self) -> None:
        self._expect_nothing()
        if self._unread:
            self._unread.cancel()
            self._unread = None

    def _header_is_late(self) -> None:
        if self.is_asking:  # the header of a request behind this one
            self._expect(self._limits.header_seconds, self._header_is_late)
        elif self._in_header:
            self._end(408, f"The header took longer than {self._limits.header_seconds:g} seconds.")
        else:
            self.transport.close()

    def _body_is_late(self) -> None:
        is_wanted = not self.cycle.response_complete
        if is_wanted and (self.flow.read_paused or self._body_bytes >= self._limits.body_bytes):
            self._body_bytes = 0
            self._expect(self._limits.body_seconds, self._body_is_late)
        else:
            self._end(408, "The body does not arrive, or too slowly. Send it again.")

    # Bounds.

    @property
    def _too_long(self) -> str:
        return (
            f"URL and headers may have at most {self._limits.header_bytes:,} bytes and "
            f"{self._limits.headers} fields. Send less."
        )

    @property
    def _is_health(self) -> bool:
        return self.url.partition(b"?")[0] in self._health_paths

    def _refusal(self) -> Response | None:
        length = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if length > self._limits.header_bytes or len(self.headers) > self._limits.headers:
            return _problem(431, self._too_long)
        if not self._is_health and not self._make_room(0.0):
            return _problem(503, "Too many connections are open. Try again in a few seconds.")
        return None

    def _make_room(self, seconds: float) -> bool:
        """Close connections idle for `seconds`, longest idle first, if there are too many.

        Return whether there is room afterwards.
        """
        beyond = len(self.connections) - self._limits.most
        if beyond <= 0:
            return True
        before = self.loop.time() - seconds
        quiet = [
            other
            for other in self.connections
            if isinstance(other, LimitedConnection)
            and other is not self
            and not other.is_asking
            and other._quiet_since <= before
        ]
        for other in heapq.nsmallest(beyond, quiet, key=lambda each: each._quiet_since):
            other.transport.abort()
        return len(quiet) >= beyond

    def _end(self, status: int, detail: str) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_written(_problem(status, detail)))
        self._expect_nothing()
        self.transport.close()
        self.loop.call_later(FLUSH_SECONDS, self.transport.abort)


def _problem(status: int, detail: str) -> Response:
    """Return an RFC 9457 error, after which the connection is closed."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    headers = {"Connection": "close"} | ({"Retry-After": "5"} if status == 503 else {})
    content = json.dumps({**body, "detail": detail})
    return Response(content, status, headers, media_type="application/problem+json")


def _written(answer: Response) -> bytes:
    """Return the bytes of a response to no particular request."""
    phrase = HTTPStatus(answer.status_code).phrase
    lines = [f"HTTP/1.1 {answer.status_code} {phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])
