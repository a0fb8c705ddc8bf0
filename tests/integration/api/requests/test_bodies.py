"""Bodies: what is too much is refused while it arrives, what a person may send is taken."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from uuid import UUID

import httpx
import psutil
import pytest

from backend.api.http.bodies import ANY, BY_PATH, DECISION, MESSAGE, SMALL_BYTES, TEMPLATE, bound_of
from backend.types import JSON
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack

AS_JSON = {"Content-Type": "application/json"}
MEGABYTE = 1_000_000
GROWTH = 100 * MEGABYTE
NOBODY = str(UUID(int=0))
LATER = {"Prefer": "respond-async"}


def paths_of(stack: Stack) -> JSON:
    """The paths of the OpenAPI document, however long a busy machine takes to write it."""
    return stack.client.get(f"{stack.base_url}/api/openapi.json").json()["paths"]


def changing_routes(stack: Stack) -> list[tuple[str, str]]:
    """Each POST and PATCH route of the API, with ids of nobody."""
    return [
        (
            method.upper(),
            "/".join(NOBODY if part[:1] == "{" else part for part in path.split("/")),
        )
        for path, operations in paths_of(stack).items()
        for method in operations
        if method in ("post", "patch", "put")
    ]


@contextmanager
def memory_growth(stack: Stack) -> Iterator[list[int]]:
    """How much the API's resident memory grows at most meanwhile."""
    assert stack.api
    process = psutil.Process(stack.api.pid)
    before, most, is_over = process.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not is_over.wait(0.005):
            most[0] = max(most[0], process.memory_info().rss - before)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        is_over.set()
        thread.join()


def send_raw(stack: Stack, head: bytes, body: bytes) -> bytes:
    """Send what no client would, at once; give the answer up to the end of the connection.

    At once, since what comes after the server has closed resets the connection, answer and all.
    """
    with closing(socket.create_connection(("127.0.0.1", stack.api_port), timeout=30)) as connection:
        connection.sendall(head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body)
        try:
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionResetError:
            return b""


def chunks(body: bytes) -> Iterator[bytes]:
    """A body of which nobody says how long it is."""
    for start in range(0, len(body), 65536):
        yield body[start : start + 65536]


def answer_to(stack: Stack, method: str, path: str, body: bytes) -> int:
    """How a body of unsaid length is answered; 0 where the connection ended before that."""
    try:
        answer = httpx.request(
            method, stack.base_url + path, content=chunks(body), headers=AS_JSON, timeout=30
        )
    except (httpx.WriteError, httpx.ReadError):
        return 0
    return answer.status_code


@pytest.mark.parametrize("path", ["/chat", "/domains", f"/turns/{NOBODY}/decisions"])
@pytest.mark.parametrize("values", [b"[[],", b'["",', b"[1,"], ids=["lists", "texts", "numbers"])
def test_a_body_of_many_values_is_refused_with_a_sentence(
    stack: Stack, path: str, values: bytes
) -> None:
    body = b'{"message": ' + values * (MEGABYTE // len(values))

    answer = stack.client.post(path, content=body, headers=AS_JSON)

    detail = check_problem(answer, 422)["detail"]
    assert "values. Send less at once." in detail or "nested deeper" in detail


@pytest.mark.security
@pytest.mark.parametrize("values", [b"[[],", b'{"a":', b'["",'], ids=["lists", "depth", "texts"])
def test_fifteen_megabytes_of_structure_are_refused_at_little_cost(
    own_stack: Stack, values: bytes
) -> None:
    body = b'{"message":' + values * (15 * MEGABYTE // len(values))
    routes = changing_routes(own_stack)

    with memory_growth(own_stack) as grown:
        for method, path in routes:
            status = answer_to(own_stack, method, path, body)
            assert status in (413, 422, 0), (method, path, status)
            assert httpx.get(f"{own_stack.base_url}/healthz", timeout=20).status_code == 200
        answer = own_stack.client.post("/chat", content=body[:MEGABYTE], headers=AS_JSON)

    check_problem(answer, 422)
    assert len(routes) > 15
    assert grown[0] < GROWTH


@pytest.mark.parametrize("bound", [ANY, MESSAGE, TEMPLATE, DECISION], ids=str)
def test_a_route_says_how_much_it_takes(stack: Stack, bound: object) -> None:
    said = {
        path: operation["requestBody"]["description"]
        for path, operations in paths_of(stack).items()
        for operation in operations.values()
        if "requestBody" in operation
    }

    assert said[next(path for path in said if bound_of(path) == bound)] == str(bound)
    assert {f"/api/v1{path}" for path in BY_PATH} <= {
        path.replace("{domain_id}", "{id}").replace("{session_id}", "{id}")
        .replace("{turn_id}", "{id}").replace("{approval_id}", "{id}").replace("{image_id}", "{id}")
        for path in said
    }  # fmt: skip


def test_a_body_may_be_as_long_as_its_route_says(stack: Stack) -> None:
    session_id = make_session(stack)
    path = f"/sessions/{session_id}"

    fits = json.dumps({"title": "t"}).encode().ljust(SMALL_BYTES)
    taken = stack.client.patch(path, content=fits, headers=AS_JSON)
    refused = stack.client.patch(path, content=fits + b" ", headers=AS_JSON)
    in_pieces = stack.client.patch(path, content=chunks(fits + b" "), headers=AS_JSON)

    assert taken.status_code == 200, taken.text
    for answer in (refused, in_pieces):
        assert f"{SMALL_BYTES:,} bytes" in check_problem(answer, 413)["detail"]
        assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("letter", ["x", "ä", "\N{GRINNING FACE}", '"', "\\", ","])
def test_a_million_characters_are_taken_however_they_are_written(stack: Stack, letter: str) -> None:
    body = json.dumps({"message": letter * 1_000_000}).encode()

    answer = stack.client.post("/chat", content=body, headers=AS_JSON | LATER)

    assert answer.status_code == 202, answer.text
    turn = stack.turn(answer.json()["turn_id"])
    assert turn["message"] == letter * 1_000_000
    stack.client.post(f"/turns/{turn['id']}/stop")


def test_prompts_may_be_as_long_as_their_fields_allow(stack: Stack) -> None:
    prompt = "ä" * 500_000

    made = make_domain(stack, system_prompt=prompt, agents=[{"name": "a", "system_prompt": prompt}])

    assert made["system_prompt"] == prompt
    assert made["agents"][0]["system_prompt"] == prompt


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_a_compressed_body_is_refused_with_a_sentence(stack: Stack, encoding: str) -> None:
    headers = AS_JSON | {"Content-Encoding": encoding}

    answer = stack.client.post("/chat", content=b"\x1f\x8b", headers=headers)

    assert "compressed" in check_problem(answer, 415)["detail"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_body_in_another_encoding_is_refused(stack: Stack, encoding: str) -> None:
    body = json.dumps({"message": "x"}).encode(encoding)

    check_problem(stack.client.post("/chat", content=body, headers=AS_JSON), 422)


@pytest.mark.parametrize("text", [b"caf\xe9", b"\xff\xfe", b"\xc3"])
def test_a_body_that_is_not_utf_8_is_refused_in_words(stack: Stack, text: bytes) -> None:
    body = b'{"message": "' + text + b'"}'

    refused = check_problem(stack.client.post("/chat", content=body, headers=AS_JSON), 422)

    assert "UTF-8" in refused["detail"]


def test_a_number_of_too_many_digits_is_refused_in_words(stack: Stack) -> None:
    body = b'{"message": ' + b"9" * 5_000 + b"}"

    refused = check_problem(stack.client.post("/chat", content=body, headers=AS_JSON), 422)

    assert "digits" in refused["detail"]


@pytest.mark.parametrize("length", [b"99999999999999999999", b"-1", b"1e3", b"12x", b"1, 2"])
def test_a_length_that_is_none_is_refused(stack: Stack, length: bytes) -> None:
    head = b"POST /api/v1/chat HTTP/1.1\nHost: 127.0.0.1\nContent-Length: " + length

    said = send_raw(stack, head, b"{}")

    assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 ")), said


def test_depth_is_refused_with_a_sentence(stack: Stack) -> None:
    deep = b'{"title": ' + b"[" * 101 + b"]" * 101 + b"}"

    answer = stack.client.post("/sessions", content=deep, headers=AS_JSON)

    assert check_problem(answer, 422)["detail"] == "The body is nested deeper than 100 levels."


def test_many_faults_are_not_all_told(stack: Stack) -> None:
    domain = {"name": "x", "agents": [{}] * 4_000}

    told = check_problem(stack.client.post("/domains", json=domain), 422)["detail"]

    assert len(told) < 20_000
    assert "and 3,980 more" in told


def test_the_oldest_of_many_large_bodies_gives_way_to_a_message(own_stack: Stack) -> None:
    head = b"POST /api/v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 12000000\r\n\r\n"
    begun = head + b'{"message": "' + b"x" * 11_000_000

    with memory_growth(own_stack) as grown:
        attack = [
            socket.create_connection(("127.0.0.1", own_stack.api_port), timeout=30)
            for _ in range(8)
        ]
        try:
            for connection in attack:
                connection.sendall(begun)
            answer = own_stack.client.post("/chat", json={"message": "x" * MEGABYTE}, headers=LATER)
            refused = attack[0].recv(65536)
        finally:
            for connection in attack:
                connection.close()

    assert answer.status_code == 202, answer.text
    assert refused.startswith(b"HTTP/1.1 503 "), refused
    assert b"Too many large messages" in refused
    assert grown[0] < GROWTH


@pytest.mark.security
def test_many_large_messages_that_wait_do_not_fill_the_memory(own_stack: Stack) -> None:
    body = json.dumps({"message": "\N{GRINNING FACE}" * 1_000_000}).encode()
    head = b"POST /api/v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    url = own_stack.base_url

    def attack() -> None:
        address = ("127.0.0.1", own_stack.api_port)
        # Who has to give way is cut off.
        with suppress(ConnectionError), socket.create_connection(address, timeout=60) as sending:
            sending.sendall(head + body)
            sending.recv(65536)

    with memory_growth(own_stack) as grown:
        attackers = [threading.Thread(target=attack) for _ in range(30)]
        for thread in attackers:
            thread.start()
        while any(thread.is_alive() for thread in attackers):
            assert httpx.get(f"{url}/healthz", timeout=20).status_code == 200

    assert grown[0] < 400 * MEGABYTE  # 250 as a rule, 313 at most in ten runs
