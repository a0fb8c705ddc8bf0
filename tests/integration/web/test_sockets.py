"""WebSockets: a message that never ends is not held, one that does arrives."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.sync.client import ClientConnection, connect

from backend.web.sockets import MessageLimits, limit_messages

LIMITS = MessageLimits(largest=400_000, arriving=1_000_000, pieces=50, seconds=0.5, pace=1_000)
PATIENCE = 60  # seconds


async def _length(page: WebSocket) -> None:
    await page.accept()
    async for text in page.iter_text():
        await page.send_text(str(len(text)))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            Starlette(routes=[WebSocketRoute("/", _length)]),
            ws=limit_messages(LIMITS),
            ws_max_size=LIMITS.largest,
            log_level="critical",
            lifespan="off",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=asyncio.run, args=(server.serve([listening]),))
        thread.start()
        yield f"ws://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def begin(page: ClientConnection, size: int) -> None:
    """Send a message without its end."""
    with page.protocol_mutex:
        page.protocol.send_text(b"x" * size, fin=False)
        page.send_data()


def go_on(page: ClientConnection, *pieces: bytes, is_end: bool) -> None:
    with page.protocol_mutex:
        for piece in pieces:
            page.protocol.send_continuation(piece, fin=is_end)
        page.send_data()


def reason(page: ClientConnection) -> str:
    """What the server says when it ends the connection."""
    with pytest.raises(ConnectionClosed) as closed:
        page.recv(timeout=PATIENCE)
    return closed.value.rcvd.reason if closed.value.rcvd else ""


def length(page: ClientConnection, text: str) -> str | bytes:
    page.send(text)
    return page.recv(timeout=PATIENCE)


def test_messages_arrive_whole_and_in_pieces(url):
    with connect(url, compression=None) as page:
        lengths = [length(page, "x" * 399_000), length(page, "ab")]
        begin(page, 1_000)
        go_on(page, b"x" * 500, is_end=True)

        assert [*lengths, page.recv(timeout=PATIENCE)] == ["399000", "2", "1500"]


@pytest.mark.security
def test_a_message_that_does_not_end_is_given_up(url):
    with connect(url) as begun, connect(url) as partial, connect(url) as idle:
        begin(begun, 100)
        partial.socket.sendall(bytes([0x80 | Opcode.TEXT, 0x80 | 100]))

        assert {reason(begun), reason(partial)} == {"a message without its end"}
        assert length(idle, "fine") == "4"


def test_a_message_in_too_many_pieces_is_refused_even_if_they_are_empty(url):
    with connect(url) as page:
        begin(page, 0)
        go_on(page, *[b""] * LIMITS.pieces, is_end=False)

        assert reason(page) == "a message in too many pieces"


def test_a_message_above_the_largest_is_refused_even_if_it_is_compressed(url):
    with connect(url, compression=None) as plain, connect(url) as compressed:
        begin(plain, LIMITS.largest + 1)
        begin(compressed, LIMITS.largest + 1)

        assert "exceeds limit" in reason(plain)
        assert "exceeds limit" in reason(compressed)


def test_when_all_unfinished_messages_are_too_large_the_oldest_give_way(url):
    with ExitStack() as stack:
        pages = [stack.enter_context(closing(connect(url, compression=None))) for _ in range(4)]
        for page in pages:
            begin(page, 300_000)

        assert reason(pages[0]) == "too many large messages arrive at once"
