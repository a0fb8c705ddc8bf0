"""An API that is told to stop says so first, and what it has begun ends in an orderly way."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.conftest import make_stack
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.scenes import stop
from tests.processes import ROOT, Process, free_port
from tests.stack import Servers, Stack

DELAY, GRACE = 3.0, 20.0
HANGING = """
import asyncio, sys, threading, time
from contextlib import asynccontextmanager
from types import SimpleNamespace
from fastapi import FastAPI
from backend.addresses import Address
from backend.api import server
from backend.settings import Settings

@asynccontextmanager
async def lifespan(app):
    yield
    hang()

def hang():
    time.sleep(600)

server.ENDING_SECONDS = 1.0
app = FastAPI(lifespan=lifespan)
app.state.stopping = asyncio.Event()
app.state.channels = app.state.waits = SimpleNamespace(close=lambda: None)
settings = Settings(_env_file=None, grace_seconds=1, stop_delay_seconds=60)
server.ApiServer(app, app, Address("127.0.0.1", int(sys.argv[1])), settings).run()
"""


@pytest.fixture
def lasting(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack whose API takes its time to stop."""
    times = {"STOP_DELAY_SECONDS": str(DELAY), "GRACE_SECONDS": str(GRACE)}
    with make_stack(servers, model, tmp_path, **times) as running:
        yield running


def tell_to_stop(stack: Stack) -> tuple[Process, httpx.Response]:
    """Tell the API, and return its process and what it then says of itself."""
    api = stack.api
    assert api is not None
    api.terminate()
    url = f"{stack.base_url}/readyz"
    return api, stack.wait_for(
        lambda: (answer := httpx.get(url)).status_code == 503 and answer, "it stays ready"
    )


def test_it_is_not_ready_for_a_moment_in_which_it_serves_on(lasting: Stack) -> None:
    api, ready = tell_to_stop(lasting)
    begun = time.monotonic()

    assert ready.json() == {"api": "stopping", "database": "ok", "redis": "ok", "worker": "ok"}
    assert httpx.get(f"{lasting.base_url}/healthz").status_code == 200
    assert lasting.client.get("/sessions").status_code == 200
    assert lasting.chat(script({"text": "still here"}))["response"] == "still here"
    assert api.wait(timeout=GRACE) == -signal.SIGTERM
    assert DELAY / 2 < time.monotonic() - begun < GRACE / 2


def test_streams_end_and_those_who_wait_for_an_answer_are_told_where_it_will_be(
    lasting: Stack,
) -> None:
    session_id = lasting.client.post("/sessions", json={}).json()["id"]
    with ThreadPoolExecutor(1) as pool, lasting.events(session_id) as events:
        asking = pool.submit(
            lasting.client.post, f"/sessions/{session_id}/chat", json={"message": script(ENDLESS)}
        )
        assert next(events)["event"]
        api, _ = tell_to_stop(lasting)
        last = [event["event"] for event in events][-1]  # to its end, which is a proper one
        answer = asking.result(timeout=GRACE)

    assert last != "ended"  # their clients may follow elsewhere
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/api/v1/turns/{answer.json()['turn_id']}"
    assert api.wait(timeout=GRACE) == -signal.SIGTERM
    assert "Traceback" not in lasting.log.read_text()
    assert "Cancel" not in lasting.log.read_text()
    lasting.start_api()
    stop(lasting, answer.json()["turn_id"])


def test_a_request_that_has_begun_is_answered(lasting: Stack) -> None:
    body = b'{"title": "in time"}'
    head = f"POST /api/v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:{lasting.api_port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", lasting.api_port), timeout=GRACE) as slow:
        slow.sendall(head.encode() + body[:5])
        api, _ = tell_to_stop(lasting)

        lasting.wait_for(lambda: not listens(lasting.api_port), "it takes connections")
        slow.sendall(body[5:])
        answer = slow.recv(65_536)

    assert answer.startswith(b"HTTP/1.1 201 ") and b"connection: close" in answer.lower()
    assert api.wait(timeout=GRACE) == -signal.SIGTERM


def test_an_end_that_hangs_is_forced(tmp_path: Path) -> None:
    port, said = free_port(), tmp_path / "said"
    with said.open("wb") as words:
        command = [sys.executable, "-c", HANGING, str(port)]
        process = subprocess.Popen(command, cwd=ROOT, stderr=words)
    try:
        deadline = time.monotonic() + 60
        while not listens(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()

        assert process.wait(timeout=GRACE) == 1
        assert " in hang" in said.read_text()
    finally:
        process.kill()


def listens(port: int) -> bool:
    """Whether somebody takes connections there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
