"""Receiving from an MCP server: bounded in size and pace, and without missing a failure.

Over HTTP, the SDK keeps waiting when a stream ends without its result, and reads any amount.
"""

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Any, cast

import httpx

from backend.domains.secrets import Destination
from backend.outgoing.connecting import guard
from backend.outgoing.policy import Outgoing
from backend.tools.mcp.connection.cancel import CancellingClient
from backend.web.inflate import Inflated, NotInflatable
from colloquy_kit.messages.parts import MAX_PARTS, Parts

MAX_ANSWER_BYTES = 64 * 2**20
TOO_MANY_PARTS = f"its answer is made of more than {MAX_PARTS:,} parts"
TOO_LARGE = f"its answer has more than {MAX_ANSWER_BYTES // 2**20} MB"
ODDLY_COMPRESSED = "its answer is compressed in a way that was not asked for"
BROKE_OFF = "its answer broke off"
LISTEN_SECONDS = 1.0  # the most that a server withholding its headers costs a turn, once

# Unsolicited messages are read on the loop that all turns share.
MESSAGES_AT_ONCE, MESSAGES_A_SECOND = 1_000, 200
STREAMS_AT_ONCE, STREAMS_A_SECOND = 20, 2
LINES_OF_EVENT = 3

SESSION_ID = "mcp-session-id"

Hooks = dict[str, list[Callable[..., Any]]]
OnFailure = Callable[[Any, str], bool]


class Pace:
    """Limits messages to a burst and then a rate per second; the sender has to wait."""

    def __init__(self, at_once: int = MESSAGES_AT_ONCE, a_second: int = MESSAGES_A_SECOND) -> None:
        self._at_once, self._a_second = at_once, a_second
        self._left = float(at_once)
        self._since = time.monotonic()

    async def keep(self, count: int) -> None:
        """Wait until `count` more may be taken."""
        now = time.monotonic()
        self._left = min(self._left + (now - self._since) * self._a_second, self._at_once) - count
        self._since = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._a_second)


class HttpWatch:
    """The HTTP client of one connection, which watches what it receives.

    `on_failure` gets the JSON-RPC id of a request that remains unanswered and what happened to it,
    for a sentence; it returns whether a call waited for that. Servers may send requests themselves,
    which are refused immediately; often they do so on a separate stream, which is opened with the
    first call, because opening it with every connection would add a fifth to the time to connect.
    """

    def __init__(self, on_failure: OnFailure, url: str, outgoing: Outgoing) -> None:
        self._on_failure = on_failure
        self._outgoing = outgoing
        self._is_direct = _is_direct(url)
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
        """Return the watched client; the SDK follows redirects within the server's origin only."""
        # Most servers keep to it; what the others send is counted as it is after decompression.
        headers = {"accept-encoding": "identity", **(headers or {})}
        hooks: Hooks = {"request": [self._before], "response": [self._after]}
        client = _Client(
            self._on_failure,
            headers=headers,
            timeout=timeout,
            auth=auth,
            event_hooks=hooks,
            follow_redirects=False,
            trust_env=not self._is_direct,
            verify=_tls_context(),
        )
        return guard(client, self._outgoing)

    async def listen(self) -> None:
        """Open the stream for the server's own requests, and wait until it is open."""
        self._is_wanted.set()
        if self._has_session:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    await self._is_open.wait()
            self._is_open.set()  # later calls do not wait for a slow one

    async def _before(self, request: httpx.Request) -> None:
        if request.method == "GET":
            await self._is_wanted.wait()
            await self._streams.keep(1)

    async def _after(self, response: httpx.Response) -> None:
        self._has_session = self._has_session or SESSION_ID in response.headers
        if response.request.method == "GET":
            self._is_open.set()
        response.stream = _Watched(response, self._on_failure, self._messages)


def _is_direct(url: str) -> bool:
    """Return whether no proxy of the environment may stand between.

    It would read what is sent without encryption, and look for this machine's addresses at itself.
    """
    destination = Destination.of_url(url)
    return destination is None or destination.scheme == "http" or destination.is_this_machine


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the trusted certificates: loading them takes tens of ms, on the shared loop."""
    return httpx.create_ssl_context()


class _Client(CancellingClient):
    """Fails a call whose request fails; the SDK would give up the connection, with all its calls.

    What says that a call was not delivered remains: no connection, and 404 for an ended session.
    """

    def __init__(self, on_failure: OnFailure, **settings: Any) -> None:
        super().__init__(**settings)
        self._on_failure = on_failure

    async def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """Send the request; if a call fails, return a response to which the SDK does nothing."""
        try:
            response = await super().send(request, **how)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise
        except httpx.HTTPError:
            if self._has_failed(request, BROKE_OFF):
                return httpx.Response(202, request=request)
            raise
        status = response.status_code
        if status < 400 or status == 404:
            return response
        if not self._has_failed(request, f"it answered with the status {status}"):
            return response
        await response.aclose()
        return httpx.Response(202, request=request)

    def _has_failed(self, request: httpx.Request, reason: str) -> bool:
        return request.method == "POST" and self._on_failure(_id_in(request), reason)


class _Watched(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, on_failure: OnFailure, pace: Pace) -> None:
        self._pace = pace
        self._body = cast(httpx.AsyncByteStream, response.stream)
        self._content = Inflated(response.headers, self._body)
        self._request = response.request
        self._on_failure = on_failure
        self._is_stream = "event-stream" in response.headers.get("content-type", "")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, resumes, parts = 0, False, Parts()
        try:
            async for chunk in self._content:
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
        except NotInflatable:
            self._fail(ODDLY_COMPRESSED)
            raise httpx.ReadError(ODDLY_COMPRESSED) from None
        except httpx.HTTPError as error:
            self._fail(str(error) if str(error) in (TOO_LARGE, TOO_MANY_PARTS) else BROKE_OFF)
            raise
        # The SDK stops reading a stream of events once it has found the result.
        if self._is_stream and not resumes:
            self._fail(BROKE_OFF)

    async def aclose(self) -> None:
        await self._body.aclose()

    def _counted(self, parts: Parts, chunk: bytes) -> Parts:
        """Count from the chunk's last event on, because each event is read separately."""
        ended, gap, begun = chunk.rpartition(b"\n\n") if self._is_stream else (b"", b"", chunk)
        if not gap:
            return parts.add(begun)
        return parts if parts.add(ended).are_too_many else Parts().add(begun)

    def _fail(self, reason: str) -> None:
        if self._request.method == "POST":
            self._on_failure(_id_in(self._request), reason)


def _id_in(request: httpx.Request) -> Any:
    """Return the JSON-RPC id of a posted request; None for a notification or an answer."""
    message = json.loads(request.content)
    return message.get("id") if "method" in message else None
