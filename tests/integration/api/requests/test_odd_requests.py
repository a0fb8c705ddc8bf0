"""Requests that are odd before anybody looks at their fields: headers, sizes, depths, letters."""

import json
import socket
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from backend.api.http.bodies import MESSAGE, SMALL_BYTES
from tests.fakes import script
from tests.integration.scenes import check_problem, make_session, send_json
from tests.stack import Stack

AS_JSON = {"Content-Type": "application/json"}


def send_raw(stack: Stack, *lines: bytes) -> bytes:
    """Send lines as they are, without a client that would refuse to; give the answer."""
    with socket.create_connection(("127.0.0.1", stack.api_port), timeout=10) as connection:
        connection.sendall(b"\r\n".join([*lines, b"Connection: close", b"", b""]))
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "lines", [(b"FOO /api/v1/sessions HTTP/1.1",), (b"GET /api/v1/sessions", b"not http"), (b"",)]
)
def test_what_is_no_request_is_refused_as_everything_else_is(
    stack: Stack, lines: tuple[bytes, ...]
) -> None:
    head, _, body = send_raw(stack, *lines, b"Host: 127.0.0.1").partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head.lower()
    assert json.loads(body)["status"] == 400


def test_a_problem_names_the_address_as_it_was_sent(stack: Stack) -> None:
    for sent in ("/api/v1/sessions/a%20b%3Fc%23d%0A", "/api/v1/sources/%C3%A9%00", "/nowhere/%7e"):
        said = send_raw(stack, f"GET {sent}?x=1 HTTP/1.1".encode(), b"Host: 127.0.0.1")

        assert json.loads(said.partition(b"\r\n\r\n")[2])["instance"] == sent


def pieces(first: bytes, size: int, last: bytes) -> Iterator[bytes]:
    """A body of which nobody says how long it is."""
    yield first
    for _ in range(size // 65536):
        yield b"x" * 65536
    yield last


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"Host: [x", 421),
        (b"Host: [::1", 421),
        (b"Host: 127.0.0.1\r\nOrigin: http://[x", 403),
        (b"Host: 127.0.0.1\r\nOrigin: null", 403),
    ],
)
def test_an_address_that_cannot_be_read_is_a_foreign_one(
    stack: Stack, header: bytes, status: int
) -> None:
    answer = send_raw(stack, b"GET /api/v1/sessions HTTP/1.1", header)

    assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:200]
    assert b"application/problem+json" in answer


@pytest.mark.parametrize("wait", ["\xb2", "1.5", "-1", "", "1e3", '"', '"1'])
def test_a_wait_that_is_no_number_is_refused(stack: Stack, wait: str) -> None:
    headers = {"Prefer": f"wait={wait}".encode("latin-1")}

    check_problem(stack.client.post("/chat", json={"message": "x"}, headers=headers), 422)


@pytest.mark.parametrize("prefer", ['wait="30"', "wait = 30", "handling=lenient, wait=30"])
def test_a_wait_may_be_written_as_the_standard_has_it(stack: Stack, prefer: str) -> None:
    answer = stack.client.post("/chat", json={"message": "x"}, headers={"Prefer": prefer})

    assert answer.status_code == 200, answer.text


def test_preferences_may_come_in_several_headers_and_the_first_wait_counts(stack: Stack) -> None:
    message = {"message": script({"text": "late", "wait": 2})}
    waits = [("Prefer", "wait=0"), ("Prefer", "wait=30, wait=20")]
    both = [("Prefer", "wait=30"), ("Prefer", "respond-async")]

    for headers in (waits, both):
        assert stack.client.post("/chat", json=message, headers=headers).status_code == 202


def test_a_body_of_unsaid_length_is_read_no_further_than_a_body_may_be_long(stack: Stack) -> None:
    session_id = make_session(stack, title="as it was")
    body = pieces(b'{"title": "', 8 * MESSAGE.size, b'"}')

    answer = stack.client.patch(f"/sessions/{session_id}", content=body, headers=AS_JSON)

    check_problem(answer, 413)
    assert answer.headers["connection"] == "close"
    assert stack.client.get(f"/sessions/{session_id}").json()["title"] == "as it was"


def test_a_body_of_unsaid_length_is_taken_where_it_is_short(stack: Stack) -> None:
    assert SMALL_BYTES > 20_000
    body = iter([b'{"title": ', *[b" " * 2_000] * 10, b'"x"}'])

    assert stack.client.post("/sessions", content=body, headers=AS_JSON).status_code == 201


def test_a_body_that_says_to_be_too_long_is_refused(stack: Stack) -> None:
    body = b'{"message": "' + b"x" * MESSAGE.size + b'"}'

    check_problem(stack.client.post("/chat", content=body, headers=AS_JSON), 413)


def test_half_a_letter_is_replaced_wherever_it_is_sent(stack: Stack) -> None:
    name = f"half {uuid4().hex[:8]}"
    template = {
        "name": f"{name} \ud800",
        "description": "\ud800",
        "system_prompt": "\x00",
        "middleware": [{"approvals": {"rules": [{"tools": "\ud800", "action": "ask"}]}}],
        "manager": {"description": "\ud800"},
        "mcp_servers": {"s": {"transport": "stdio", "command": "c", "args": ["\udfff"]}},
    }

    checked = send_json(stack, "POST", "/domains/check", template).json()
    made = send_json(stack, "POST", "/domains", template).json()

    assert checked["faults"] == []
    for read in (checked["image"], made):
        assert (read["name"], read["description"]) == (f"{name} \ufffd", "\ufffd")
        assert (read["system_prompt"], read["manager"]["description"]) == ("\u2400", "\ufffd")
        assert read["mcp_servers"]["s"]["args"] == ["\ufffd"]
    copied = send_json(stack, "POST", f"/domains/{made['id']}/duplicate", {"name": f"{name}\udc00"})
    assert copied.json()["name"] == f"{name}\ufffd"


@pytest.mark.parametrize("body", [{"\ud800": 1}, {"name": "d", "\x00": {}}])
def test_a_field_of_half_a_letter_is_unknown_like_any_other(stack: Stack, body: dict) -> None:
    checked = send_json(stack, "POST", "/domains/check", body)

    assert checked.json()["faults"]
    for path in ("/domains", "/sessions", "/chat"):
        check_problem(send_json(stack, "POST", path, body), 422)


def test_a_session_needs_no_body(stack: Stack) -> None:
    assert stack.client.post("/sessions").status_code == 201
    assert stack.client.post("/sessions", json=None).status_code == 201


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/sessions?domain=%00"),
        ("GET", "/sessions?q=a%00b"),
        ("GET", "/sessions?cursor=%00"),
        ("GET", "/domains?cursor=%00"),
        ("GET", "/approvals?cursor=%00"),
        ("DELETE", "/sessions/00000000-0000-0000-0000-000000000000/allowed_tools/%00"),
        ("POST", "/workers/%00/drain"),
    ],
)
def test_nul_in_an_address_is_refused(stack: Stack, method: str, path: str) -> None:
    check_problem(stack.client.request(method, path), 422)


@pytest.mark.parametrize(
    "path", ["/healthz", "/metrics", "/api/v1/sessions", "/api/v1/sessions/{id}/events", "/nowhere"]
)
def test_head_is_get_without_the_body(stack: Stack, path: str) -> None:
    url = stack.base_url + path.format(id=make_session(stack))

    head = httpx.head(url, timeout=20)

    with httpx.stream("GET", url) as get:
        assert head.status_code == get.status_code
        assert head.headers["content-type"] == get.headers["content-type"]
    assert head.content == b""


def test_a_refused_method_is_answered_with_all_that_the_address_takes(stack: Stack) -> None:
    one = f"/sessions/{uuid4()}"
    taken = {"/sessions": "GET, HEAD, POST", one: "DELETE, GET, HEAD, PATCH", "/chat": "POST"}

    for path, methods in taken.items():
        for method in ("OPTIONS", "PUT"):
            answer = stack.client.request(method, path)
            check_problem(answer, 405)
            assert answer.headers["allow"] == methods


def test_an_address_of_its_own_is_not_taken_for_the_id_of_another_route(stack: Stack) -> None:
    document = httpx.get(f"{stack.base_url}/api/openapi.json").json()
    addresses = {path: each for path, each in document["paths"].items() if "{" not in path}
    assert "/api/v1/domains/check" in addresses

    for path, taken in addresses.items():
        allowed = sorted([*map(str.upper, taken), *(["HEAD"] if "get" in taken else [])])
        for method in {"DELETE", "GET", "PATCH", "POST", "PUT"} - set(allowed):
            answer = stack.client.request(method, f"{stack.base_url}{path}")
            assert answer.status_code == 405, f"{method} {path}: {answer.text}"
            assert answer.headers["allow"] == ", ".join(allowed)


def test_head_of_what_takes_no_get_is_refused(stack: Stack) -> None:
    assert stack.client.head("/chat").status_code == 405


def test_a_wrong_choice_is_answered_with_what_there_is(stack: Stack) -> None:
    path = f"/domains/{uuid4()}/tool-versions/{uuid4()}"

    refused = check_problem(stack.client.patch(path, json={"status": "pending"}), 422)

    assert refused["detail"] == "status: Input should be 'accepted' or 'refused'"


@pytest.mark.parametrize("path", ["/sessions", "/domains", "/approvals", "/files", "/tasks"])
def test_an_empty_cursor_is_the_first_page(stack: Stack, path: str) -> None:
    """As httpx sends one that is None. What other tests began may end between the two requests."""

    def are_equal() -> bool:
        pages = [stack.client.get(path, params=query) for query in ({}, {"cursor": ""})]
        assert [page.status_code for page in pages] == [200, 200]
        return pages[0].json() == pages[1].json()

    stack.wait_for(are_equal, "an empty cursor is not the first page")


def test_an_upload_that_breaks_off_leaves_no_file_and_no_traceback(own_stack: Stack) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n'
        raise ConnectionAbortedError

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    with pytest.raises(ConnectionAbortedError):
        own_stack.client.post("/files", content=pieces(), headers=headers)

    counted = 'colloquy_problems_total{status="499"} 1.0'
    metrics = f"{own_stack.base_url}/metrics"
    own_stack.wait_for(lambda: counted in own_stack.client.get(metrics).text, "nobody has left")
    assert own_stack.client.get("/files").json()["items"] == []
    assert "Traceback" not in own_stack.log.read_text()
