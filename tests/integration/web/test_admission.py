"""Admission: a crowd of requests begins one by one, in order, and health is answered before it."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.web.admission import Admission
from backend.web.connections import ConnectionLimits, limit_connections

CROWD = 200
PATIENCE = 20  # seconds


def test_health_is_answered_before_a_crowd_that_came_earlier() -> None:
    begun: list[str] = []
    goes_on = threading.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        begun.append(scope["path"])
        if scope["path"] == "/first":
            goes_on.wait(PATIENCE)  # on the loop: it finds the whole crowd when it goes on
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    with served(answer) as ask, ExitStack() as stack:
        connections = [stack.enter_context(ask("/first"))]
        wait_until(lambda: begun == ["/first"])
        connections += [stack.enter_context(ask("/crowd")) for _ in range(CROWD)]
        connections += [stack.enter_context(ask("/healthz"))]
        goes_on.set()
        answers = [connection.recv(12) for connection in connections]

    assert set(answers) == {b"HTTP/1.1 200"}
    assert begun.index("/healthz") < CROWD / 4


def test_requests_begin_in_order_and_who_is_gone_is_passed_over() -> None:
    begun: list[int] = []

    async def app(scope: Any, *_: Any) -> None:
        begun.append(scope["number"])

    async def ask() -> None:
        admission = Admission()
        queued: Any = admission.queue(app)
        asked = [asyncio.create_task(queued({"number": n}, None, None)) for n in range(10)]
        asked[0].add_done_callback(lambda _: asked[3].cancel())
        await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(ask())

    assert begun == [0, 1, 2, 4, 5, 6, 7, 8, 9]


@contextmanager
def served(app: ASGIApp) -> Iterator[Callable[[str], Any]]:
    """Serve the app as the parts are served; give what sends a request for a path."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        http: Any = limit_connections(ConnectionLimits())
        server = uvicorn.Server(
            uvicorn.Config(app, http=http, log_level="critical", lifespan="off")
        )
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        wait_until(lambda: server.started)

        def ask(path: str) -> Any:
            connection = socket.create_connection(listening.getsockname(), timeout=PATIENCE)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            return closing(connection)

        yield ask
        server.should_exit = server.force_exit = True
        thread.join(timeout=PATIENCE)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
