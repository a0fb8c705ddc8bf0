"""What comes from an MCP server over HTTP: bounded, and never missed when it breaks off.

The SDK waits on when an answer's stream ends without its result, and reads any amount of it.
"""

import json
import ssl
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

RESUMES = "last-event-id"  # in a request for the rest of an answer that broke off

Hooks = dict[str, list[Callable[..., Any]]]
OnFailure = Callable[[Any, str], None]


class NobodyListens(Exception):
    """What a server says unasked is of no use here, so no stream is held open for it.

    The SDK would open one with each connection: a fifth of what it takes to connect.
    """


def watching_client(on_failure: OnFailure) -> Callable[..., httpx.AsyncClient]:
    """Return a maker of HTTP clients that report an answer without an end.

    `on_failure` gets the JSON-RPC id of the request and, for a sentence, what happened.
    """

    def make(
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        async def watch(response: httpx.Response) -> None:
            if response.request.method == "POST":
                response.stream = _Watched(response, on_failure)

        async def refuse(request: httpx.Request) -> None:
            if request.method == "GET" and RESUMES not in request.headers:
                raise NobodyListens

        # Compressed, a small answer could unfold to any size.
        headers = {"accept-encoding": "identity", **(headers or {})}
        hooks: Hooks = {"request": [refuse], "response": [watch]}
        return httpx.AsyncClient(
            headers=headers,
            timeout=timeout,
            auth=auth,
            event_hooks=hooks,
            verify=_tls_context(),
        )

    return make


@cache
def _tls_context() -> ssl.SSLContext:
    """The trusted certificates; reading them takes tens of milliseconds, on everybody's loop."""
    return httpx.create_ssl_context()


class _Watched(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, on_failure: OnFailure) -> None:
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
        self._on_failure(json.loads(self._request.content).get("id"), reason)
