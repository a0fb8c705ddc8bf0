"""Connections: who sends or reads too slowly is cut off, who waits for an answer is not."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from backend.web.connections import ConnectionLimits, limit_connections

PATIENCE = 60  # seconds, of tests, far beyond all deadlines here
IDLE = 8  # more than uvicorn's own 5
HEADER, BODY, READING = 0.5, 0.5, 1.0
LIMITS = ConnectionLimits(
    idle_seconds=IDLE,
    header_seconds=HEADER,
    body_seconds=BODY,
    body_bytes=1_000,
    reading_seconds=READING,
    most=20,
    reserve=5,
)
GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"


async def _read(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _later(request: Request) -> Response:
    await asyncio.sleep(3 * max(HEADER, BODY, READING))
    return PlainTextResponse("later")


async def _now(request: Request) -> Response:
    return PlainTextResponse("now")


async def _stream(request: Request) -> Response:
    async def ticks():
        for number in range(20):
            yield f"{number}\n"
            await asyncio.sleep(0.2)

    return StreamingResponse(ticks())


async def _megabytes(request: Request) -> Response:
    return PlainTextResponse("x" * 50_000_000)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server with short deadlines and few connections."""
    routes = [
        Route("/read", _read, methods=["POST"]),
        Route("/unread", _now, methods=["POST"]),
        Route("/later", _later),
        Route("/now", _now),
        Route("/healthz", _now),
        Route("/stream", _stream),
        Route("/megabytes", _megabytes),
    ]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        http = limit_connections(LIMITS)
        config = uvicorn.Config(
            Starlette(routes=routes), http=http, log_level="critical", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)


@contextmanager
def connected(port: int, *sent: bytes) -> Iterator[socket.socket]:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    with closing(connection):
        for piece in sent:
            connection.sendall(piece)
        yield connection


def read_all(connection: socket.socket) -> bytes:
    """All until the server ends the connection; fails where it does not."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def read_answer(connection: socket.socket) -> bytes:
    """An answer with the length that it says."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        byte = connection.recv(1)
        assert byte, "the connection has ended"
        answer += byte
    length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while length:
        piece = connection.recv(length)
        answer, length = answer + piece, length - len(piece)
    return answer


def post(path: bytes, length: int, body: bytes) -> bytes:
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, length) + body


@pytest.mark.parametrize(
    "sent",
    [b"G", b"GET / HTTP/1.1\r\nHost", b"GET / HTTP/1.1\r\nHost: x\r\n", GET % b"/now" + b"GET /no"],
)
def test_a_half_sent_header_is_refused_and_closed(port: int, sent: bytes) -> None:
    with connected(port, sent) as connection:
        said = read_all(connection)

    assert b"HTTP/1.1 408 Request Timeout\r\n" in said
    assert b"application/problem+json" in said
    assert b"connection: close" in said.lower()


def test_a_connection_is_kept_for_longer_than_clients_and_proxies_keep_theirs(port: int) -> None:
    kept = ConnectionLimits().idle_seconds
    nginx = 60.0  # its keepalive_timeout for upstreams
    assert kept > max(httpx.Limits().keepalive_expiry or 0.0, nginx)

    with connected(port, GET % b"/now") as connection:
        assert read_answer(connection).endswith(b"now")
        time.sleep(5.5)  # uvicorn by itself ends it after 5
        connection.sendall(GET % b"/now")
        assert read_answer(connection).endswith(b"now")


@pytest.mark.security
@pytest.mark.parametrize("sent", [b"", b"\r\n", GET % b"/now" + b"\r\n\r\n"])
def test_a_connection_that_asks_nothing_is_closed(port: int, sent: bytes) -> None:
    with connected(port, sent) as connection:
        said = read_all(connection)

    assert b"408" not in said


def test_a_header_that_comes_byte_by_byte_is_not_waited_for(port: int) -> None:
    with connected(port) as connection, pytest.raises(OSError):
        for byte in b"GET /now HTTP/1.1\r\nX: " + b"x" * 1_000:
            connection.sendall(bytes([byte]))
            time.sleep(HEADER / 20)


@pytest.mark.parametrize("path", [b"/read", b"/unread"])
@pytest.mark.parametrize("body", [b"", b"x" * 999])
def test_a_half_sent_body_is_closed(port: int, path: bytes, body: bytes) -> None:
    with connected(port, post(path, 5_000_000, body)) as connection:
        said = read_all(connection)

    assert said.startswith(b"HTTP/1.1 408 " if path == b"/read" else b"HTTP/1.1 200 ")


def test_a_body_without_a_length_that_stops_is_closed(port: int) -> None:
    head = b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    with connected(port, head) as connection:
        assert read_all(connection).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_slowly_but_steadily_is_taken(port: int) -> None:
    with connected(port, post(b"/read", 1_000_000, b"")) as connection:
        for _ in range(20):
            connection.sendall(b"x" * 50_000)
            time.sleep(BODY / 5)  # in all, four times the deadline
        answer = read_answer(connection)

    assert answer.endswith(b"1000000")


def test_an_answer_may_take_longer_than_all_deadlines(port: int) -> None:
    with connected(port, GET % b"/later") as connection:
        assert read_answer(connection).endswith(b"later")


def test_a_stream_may_last_longer_than_all_deadlines(port: int) -> None:
    with connected(port, b"GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as client:
        assert b"\r\n19\n" in read_all(client)


@pytest.mark.parametrize("path", [b"/stream", b"/now"])
def test_a_client_of_http_1_0_is_sent_no_chunks(port: int, path: bytes) -> None:
    with connected(port, b"GET %s HTTP/1.0\r\nHost: x\r\n\r\n" % path) as client:
        head, _, body = read_all(client).partition(b"\r\n\r\n")

    assert b"transfer-encoding" not in head.lower()
    ticks = b"".join(b"%d\n" % number for number in range(20))
    assert body == {b"/stream": ticks, b"/now": b"now"}[path]


def test_who_does_not_read_is_cut_off(port: int) -> None:
    with connected(port, GET % b"/megabytes") as connection:
        time.sleep(3 * READING)

        assert len(read_all(connection)) < 50_000_000


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /now HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
        b"GET /now HTTP/1.1\r\n" + b"X: y\r\n" * 201 + b"\r\n",
        b"GET /now HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_a_header_that_is_too_long_is_refused(port: int, sent: bytes) -> None:
    with connected(port, sent) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 431 ")


def test_a_header_without_end_is_refused_while_it_comes(port: int) -> None:
    with connected(port, b"GET /now HTTP/1.1\r\nX: ") as connection, pytest.raises(OSError):
        for _ in range(1_000):
            connection.sendall(b"y" * 65536)


def test_half_sent_requests_beyond_the_bound_give_way_to_new_ones(port: int) -> None:
    idle = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(200)]
    try:
        for _ in range(5):
            with connected(port, GET % b"/now") as connection:
                assert read_answer(connection).endswith(b"now")
    finally:
        for connection in idle:
            connection.close()


def test_where_all_connections_are_asking_health_is_answered_still(port: int) -> None:
    asking = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(20)]
    try:
        for connection in asking:
            connection.sendall(GET % b"/later")
        with connected(port, GET % b"/healthz") as connection:
            assert read_answer(connection).startswith(b"HTTP/1.1 200 ")
        with connected(port, GET % b"/now") as connection:
            refused = read_answer(connection)
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Too many connections" in refused
        for connection in asking:
            assert read_answer(connection).endswith(b"later")
    finally:
        for connection in asking:
            connection.close()


FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from backend.web.connections import ConnectionLimits, limit_connections
print(limit_connections(ConnectionLimits()).keywords["limits"].most)
"""


def test_a_process_with_few_open_files_still_serves() -> None:
    command = [sys.executable, "-c", FEW_FILES]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert int(said) == 100
