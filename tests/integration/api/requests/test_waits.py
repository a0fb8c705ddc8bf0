"""Requests that wait, and streams: however many one person opens, others are answered."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, make_session
from tests.stack import Servers, Stack

LONG = script({"wait": 60, "text": "at last"})
WAITS = 250


@pytest.fixture
def narrow(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack of one's own whose people may have few requests wait, and few streams."""
    model.clear()
    with make_stack(servers, model, tmp_path, USER_WAITS="2", USER_STREAMS="3") as running:
        yield running


@contextmanager
def opened(stack: Stack, request: bytes, count: int = 1) -> Iterator[list[socket.socket]]:
    """Send a request over so many connections, without reading what is answered."""
    with ExitStack() as connections:
        opened = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", stack.api_port), timeout=20)
            opened.append(connections.enter_context(closing(connection)))
            connection.sendall(request)
        yield opened


def waiting_post(message: str, path: str = "/chat", **headers: str) -> bytes:
    body = json.dumps({"message": message}).encode()
    lines = [f"POST /api/v1{path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def figure(stack: Stack, name: str) -> int:
    """A gauge of the API process."""
    text = httpx.get(f"{stack.base_url}/metrics", timeout=20).text
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found, text
    return int(float(found[1]))


def wait_for_figure(stack: Stack, name: str, value: int) -> None:
    stack.wait_for(lambda: figure(stack, name) == value, f"{name} does not become {value}")


@pytest.mark.chaos
def test_three_hundred_requests_that_wait_leave_the_api_to_others(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    with make_stack(servers, model, tmp_path, USER_WAITS=str(WAITS)) as stack:
        with opened(stack, waiting_post(LONG), 300):
            wait_for_figure(stack, "colloquy_waiting_requests", WAITS)

            assert httpx.get(f"{stack.base_url}/healthz", timeout=20).status_code == 200
            assert stack.client.get("/sessions", timeout=20).status_code == 200
            assert stack.client.post("/sessions", timeout=20).status_code == 201
        wait_for_figure(stack, "colloquy_waiting_requests", 0)


def test_beyond_the_bound_a_message_is_accepted_and_answered_at_once(narrow: Stack) -> None:
    with opened(narrow, waiting_post(LONG), 2):
        wait_for_figure(narrow, "colloquy_waiting_requests", 2)

        answer = narrow.client.post("/chat", json={"message": LONG}, timeout=10)

    assert (answer.status_code, answer.json()["response"]) == (202, None)
    turn = narrow.client.get(answer.headers["Location"].removeprefix("/api/v1")).json()
    assert turn["id"] == answer.json()["turn_id"]
    wait_for_figure(narrow, "colloquy_waiting_requests", 0)
    assert narrow.chat("hello")["status"] == "succeeded"


def test_a_wait_ends_when_the_answer_is_there(own_stack: Stack) -> None:
    answer = own_stack.chat(script({"wait": 1, "text": "waited for"}))

    assert answer["response"] == "waited for"
    assert figure(own_stack, "colloquy_waiting_requests") == 0


def test_a_wait_ends_where_its_session_is_deleted(own_stack: Stack) -> None:
    session_id = make_session(own_stack)
    post = waiting_post(LONG, f"/sessions/{session_id}/chat", Connection="close")

    with opened(own_stack, post) as (connection,):
        wait_for_figure(own_stack, "colloquy_waiting_requests", 1)
        assert own_stack.client.delete(f"/sessions/{session_id}").status_code == 204
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 404 "), answer
    assert figure(own_stack, "colloquy_waiting_requests") == 0


def test_event_streams_of_one_person_are_bounded(narrow: Stack) -> None:
    path = f"/sessions/{make_session(narrow)}/events"
    follow = f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()

    with opened(narrow, follow, 3):
        wait_for_figure(narrow, "colloquy_event_streams", 3)
        refused = narrow.client.get(path)

    assert "event streams" in check_problem(refused, 429)["detail"]
    assert refused.headers["Retry-After"]
    wait_for_figure(narrow, "colloquy_event_streams", 0)
    with narrow.client.stream("GET", path) as answer:
        assert answer.status_code == 200


def test_a_stream_that_is_refused_or_only_looked_at_leaves_its_place(narrow: Stack) -> None:
    path = f"/sessions/{make_session(narrow)}/events"

    for _ in range(5):
        check_problem(narrow.client.get(path, params={"after": "nonsense"}), 422)
        assert narrow.client.head(path).status_code == 200

    assert figure(narrow, "colloquy_event_streams") == 0
