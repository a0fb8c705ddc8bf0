"""What comes from an MCP server: bounded, in a pace that others can live with, and never missed.

Over HTTP the SDK waits on when an answer's stream ends without its result, and reads any amount.
"""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any

import httpx

from backend.llm.parts import MAX_PARTS, Parts

MAX_ANSWER_BYTES = 64 * 2**20
TOO_MANY_PARTS = f"its answer is made of more than {MAX_PARTS:,} parts"
TOO_LARGE = f"its answer has more than {MAX_ANSWER_BYTES // 2**20} MB"
BROKE_OFF = "its answer broke off"
CONNECT_SECONDS = 10.0
LISTEN_SECONDS = 1.0  # a server that holds its headers back costs a turn so much, once

# What a server says unasked is read on the loop that all turns share.
MESSAGES_AT_ONCE, MESSAGES_A_SECOND = 1_000, 200
STREAMS_AT_ONCE, STREAMS_A_SECOND = 20, 2
LINES_OF_EVENT = 3

SESSION_ID = "mcp-session-id"

Hooks = dict[str, list[Callable[..., Any]]]
OnFailure = Callable[[Any, str], None]


class Pace:
    """Lets so many through at once, and then so many a second; the sender has to wait."""

    def __init__(self, at_once: int = MESSAGES_AT_ONCE, a_second: int = MESSAGES_A_SECOND) -> None:
        self._at_once, self._a_second = at_once, a_second
        self._left = float(at_once)
        self._since = time.monotonic()

    async def keep(self, count: int) -> None:
        """Wait until so many more may be taken."""
        now = time.monotonic()
        self._left = min(self._left + (now - self._since) * self._a_second, self._at_once) - count
        self._since = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._a_second)


class HttpWatch:
    """The HTTP client of one connection: what it receives, and when it listens.

    `on_failure` gets the JSON-RPC id of a request without an answer and, for a sentence, what
    happened to it. A server may ask something itself, of which it is told at once that nobody does
    that here; often it does so on a stream of its own, which is open from the first call on: to
    open one with each connection is a fifth of what it takes to connect.
    """

    def __init__(self, on_failure: OnFailure) -> None:
        self._on_failure = on_failure
        self._has_session = False
        self._is_wanted, self._is_open = asyncio.Event(), asyncio.Event()
        self._messages = Pace()
        self._streams = Pace(STREAMS_AT_ONCE, STREAMS_A_SECOND)

    def client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        """Return the client that is watched; redirects to elsewhere are not followed."""
        # Compressed, a small answer could unfold to any size.
        headers = {"accept-encoding": "identity", **(headers or {})}
        hooks: Hooks = {"request": [self._before], "response": [self._after]}
        return httpx.AsyncClient(
            headers=headers,
            timeout=timeout,
            auth=auth,
            event_hooks=hooks,
            follow_redirects=False,
            verify=_tls_context(),
        )

    async def listen(self) -> None:
        """Let the stream for what the server asks be opened, and wait until it is."""
        self._is_wanted.set()
        if self._has_session:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._is_open.wait()
            self._is_open.set()  # nobody else waits for one that is slow

    async def _before(self, request: httpx.Request) -> None:
        if request.method == "GET":
            await self._is_wanted.wait()
            await self._streams.keep(1)

    async def _after(self, response: httpx.Response) -> None:
        self._has_session = self._has_session or SESSION_ID in response.headers
        if response.request.method == "GET":
            self._is_open.set()
        if response.request.method in ("GET", "POST"):
            response.stream = _Watched(response, self._on_failure, self._messages)


@cache
def _tls_context() -> ssl.SSLContext:
    """The trusted certificates; reading them takes tens of milliseconds, on everybody's loop."""
    return httpx.create_ssl_context()


class _Watched(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, on_failure: OnFailure, pace: Pace) -> None:
        self._pace = pace
        self._inner: Any = response.stream
        self._request = response.request
        self._on_failure = on_failure
        self._is_stream = "event-stream" in response.headers.get("content-type", "")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, resumes, parts = 0, False, Parts()
        try:
            async for chunk in self._inner:
                size += len(chunk)
                if size > MAX_ANSWER_BYTES:
                    raise httpx.ReadError(TOO_LARGE)
                if self._is_stream:
                    lines = chunk.count(b"\n") + chunk.count(b"\r")
                    await self._pace.keep(lines // LINES_OF_EVENT)
                parts = self._counted(parts, chunk)
                if parts.are_too_many:
                    raise httpx.ReadError(TOO_MANY_PARTS)
                resumes = resumes or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except httpx.HTTPError as error:
            said = str(error)
            self._fail(said if said in (TOO_LARGE, TOO_MANY_PARTS) else BROKE_OFF)
            raise
        # Whoever finds the result in a stream of events stops reading it before its end.
        if self._is_stream and not resumes:
            self._fail(BROKE_OFF)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _counted(self, parts: Parts, chunk: bytes) -> Parts:
        """Count anew from the last event of the chunk on, as each event is read by itself."""
        ended, gap, begun = chunk.rpartition(b"\n\n") if self._is_stream else (b"", b"", chunk)
        if not gap:
            return parts.add(begun)
        return parts if parts.add(ended).are_too_many else Parts().add(begun)

    def _fail(self, reason: str) -> None:
        if self._request.method != "POST":
            return
        self._on_failure(json.loads(self._request.content).get("id"), reason)
