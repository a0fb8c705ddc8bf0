"""A worker says on a port of its own whether it takes turns."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.launch.test_worker_loop import start_odd
from tests.processes import free_port
from tests.stack import Servers, Stack

OK = {"worker": "ok", "agents": "ok", "main": "ok", "database": "ok"}


class Probed:
    """A stack whose one worker is asked."""

    def __init__(self, stack: Stack, port: int) -> None:
        self.stack, self.url = stack, f"http://127.0.0.1:{port}"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=5)

    def becomes(self, status: int) -> httpx.Response:
        return self.stack.wait_for(
            lambda: (answer := self.get("/readyz")).status_code == status and answer,
            f"the worker does not answer {status}",
        )


@pytest.fixture
def probed(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Probed]:
    port = free_port()
    settings = {"PROBE_PORT": str(port), "GRACE_SECONDS": "60", "LEASE_SECONDS": "300"}
    with make_stack(servers, model, tmp_path, **settings) as stack:
        yield Probed(stack, port)


def test_it_is_ready_until_it_stops_and_alive_until_it_ends(
    probed: Probed, model: ScriptedModel
) -> None:
    stack, goes_on = probed.stack, threading.Event()
    model.steps = [{"text": "one two three", "until": goes_on}]
    turn = stack.submit("hello")["turn_id"]
    stack.wait_for(lambda: stack.turn(turn)["status"] == "running", "it does not run")

    ready = probed.becomes(200)
    stack.workers[0].terminate()
    stopping = probed.becomes(503)
    alive = probed.get("/healthz")
    goes_on.set()

    assert ready.json() == OK and ready.headers["server"] == "colloquy"
    assert stopping.json() == OK | {"worker": "stopping"}
    assert (alive.status_code, alive.json()) == (200, {"status": "alive"})
    assert stack.workers[0].wait(timeout=30) == 0
    assert stack.finished(turn)["status"] == "succeeded"
    with pytest.raises(httpx.ConnectError):
        probed.get("/healthz")


def test_one_that_drains_is_not_ready(probed: Probed, model: ScriptedModel) -> None:
    stack, goes_on = probed.stack, threading.Event()
    model.steps = [{"text": "one two three", "until": goes_on}]
    turn = stack.submit("hello")["turn_id"]
    stack.wait_for(lambda: stack.turn(turn)["status"] == "running", "it does not run")
    name = stack.client.get("/work").json()["workers"][0]["name"]

    stack.client.post(f"/workers/{name}/drain")

    assert probed.becomes(503).json()["worker"] == "draining"
    goes_on.set()
    assert stack.workers[0].wait(timeout=30) == 0


def test_a_port_that_is_taken_is_refused_in_a_sentence(probed: Probed) -> None:
    ended, said = probed.stack.run("-m", "worker")

    assert ended == 2
    assert said.splitlines()[-1].startswith("PROBE_PORT: the worker cannot listen on 127.0.0.1")
    assert "Each worker needs a port of its own." in said


def test_who_says_nothing_keeps_nobody_waiting(probed: Probed) -> None:
    port = int(probed.url.rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]

    begun = time.monotonic()
    assert probed.get("/readyz").status_code == 200
    assert probed.get("/other").status_code == 404
    assert time.monotonic() - begun < 3
    for one in silent:
        one.close()


@pytest.mark.chaos
def test_one_whose_agents_are_blocked_is_not_ready(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    port = free_port()
    stack = make_stack(servers, model, tmp_path, PROBE_PORT=str(port), LEASE_SECONDS="300")
    try:
        stack.start_api()
        start_odd(stack, 600)
        stack.submit(script({"tools": [{"name": "blocks", "args": {}, "id": "call_1"}]}))

        blocked = Probed(stack, port).becomes(503).json()

        assert blocked["agents"].startswith("blocked for ")
        assert {**blocked, "agents": "ok"} == OK
    finally:
        stack.__exit__()
