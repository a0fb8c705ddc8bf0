"""Answers to HTTP/1.0 clients, which take the marks between chunks for content (RFC 9112, 6.1)."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle


def without_chunks(app: ASGIApp, cycle_of: Callable[[], RequestResponseCycle]) -> ASGIApp:
    """Return the app with each answer of unknown length ended by the end of the connection.

    Uvicorn closes the connection of such a client after one answer, but would write it in chunks.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        cycle, has_length = cycle_of(), True

        async def send_piece(message: Message) -> None:
            nonlocal has_length
            if message["type"] == "http.response.start":
                has_length = "content-length" in Headers(raw=message["headers"])
                cycle.chunked_encoding = None if has_length else False
            elif not has_length:
                cycle.expected_content_length = len(message.get("body", b""))
            await send(message)

        await app(scope, receive, send_piece)

    return answer
