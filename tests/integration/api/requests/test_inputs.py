"""Bad input of every kind: a clear problem, nothing changed, never a server error."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, make_domain, make_session, send_json
from tests.stack import Stack

AS_JSON = {"Content-Type": "application/json"}
NOBODY = str(uuid4())
ODD_VALUES = [
    None,
    7,
    1e308,
    10**400,
    -0.5,
    True,
    [],
    {},
    ["x"],
    {"a": 1},
    "",
    "x",
    "\x00",
    "\ud83d",
]
DEEP = "[" * 100_000 + "]" * 100_000


def count_all(stack: Stack) -> list[Any]:
    tables = ("turns", "conversations", "display_messages", "domains", "agent_state_deltas")
    return [stack.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b'{"message": "cut',
        b'{"message": "\xff\xfe"}',
        b"\xff\xfe{",
        b"null",
        b"[]",
        b'"hello"',
        b"{}",
        b'{"message": null}',
        b'{"message": 5}',
        b'{"message": ["hello"]}',
        b'{"message": "x", "messages": []}',
        b'{"message": "x", "owner": "root"}',
        b'{"message": "x", "session_id": 7}',
        b'{"message": "x", "session_id": "not-an-id"}',
        b'{"message": NaN}',
        b'{"message": 1e999}',
        b'{"message": ' + b"9" * 10_000 + b"}",
        b'{"message": ' + DEEP.encode() + b"}",
        DEEP.encode(),
    ],
    ids=lambda body: body[:30].decode(errors="replace"),
)
def test_an_unusable_body_is_a_problem_and_changes_nothing(stack: Stack, body: bytes) -> None:
    session_id = make_session(stack)
    before = count_all(stack)

    for path in ("/chat", f"/sessions/{session_id}/chat"):
        answer = stack.client.post(path, content=body, headers=AS_JSON)
        assert 400 <= answer.status_code < 500, answer.text
        check_problem(answer, answer.status_code)

    assert count_all(stack) == before


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_that_is_not_called_json_is_refused(stack: Stack, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}

    answer = stack.client.post("/chat", content=b'{"message": "x"}', headers=headers)

    check_problem(answer, 422)
    assert answer.json()["detail"].endswith("Send it with Content-Type: application/json")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "The body is missing. Send a JSON object"),
        (b'{"message": "cut', "The body is not valid JSON (Unterminated string starting at)."),
        (b"[]", "The body must be a JSON object"),
    ],
)
def test_a_body_that_is_no_object_of_json_is_told_so(stack: Stack, body: bytes, said: str) -> None:
    answer = stack.client.post("/chat", content=body, headers=AS_JSON)

    check_problem(answer, 422)
    assert answer.json()["detail"].startswith(said)


@pytest.mark.parametrize("field", ["message", "session_id", "domain", "agent"])
def test_no_value_of_a_chat_field_breaks_the_server(stack: Stack, field: str) -> None:
    for value in ODD_VALUES:
        body = {"message": "hello", field: value}
        answer = stack.client.post(
            "/chat",
            content=json.dumps(body),
            headers={**AS_JSON, "Prefer": "respond-async"},
        )
        assert answer.status_code < 500, (value, answer.text)


@pytest.mark.parametrize(
    "field",
    [
        "name", "description", "model", "system_prompt", "tools", "mcp_servers", "agents",
        "manager", "middleware", "limits",
    ],
)  # fmt: skip
def test_no_value_of_a_domain_field_breaks_the_server(stack: Stack, field: str) -> None:
    domain = make_domain(stack)

    for value in ODD_VALUES:
        made = send_json(stack, "POST", "/domains", {"name": f"n{uuid4().hex}", field: value})
        assert made.status_code < 500, (value, made.text)
        changed = send_json(stack, "PATCH", f"/domains/{domain['id']}", {field: value})
        assert changed.status_code < 500, (value, changed.text)
        for answer in (made, changed):
            if answer.status_code >= 400:
                check_problem(answer, answer.status_code)
    stored = stack.client.get("/domains", params={"limit": 200})
    assert stored.status_code == 200


@pytest.mark.parametrize("field", ["title", "domain", "pinned", "archived", "owner", "status"])
def test_no_value_of_a_session_field_breaks_the_server(stack: Stack, field: str) -> None:
    session_id = make_session(stack)

    for value in ODD_VALUES:
        answer = send_json(stack, "PATCH", f"/sessions/{session_id}", {field: value})
        assert answer.status_code < 500, (value, answer.text)
        made = send_json(stack, "POST", "/sessions", {field: value})
        assert made.status_code < 500, (value, made.text)
    assert stack.client.get(f"/sessions/{session_id}").json()["owner"] == "local"


READS = [
    "/sessions/{id}", "/sessions/{id}/messages", "/sessions/{id}/state", "/sessions/{id}/image",
    "/sessions/{id}/events", "/sessions/{id}/turns", "/sessions/{id}/results/{id}",
    "/turns/{id}", "/domains/{id}",
]  # fmt: skip
WRITES = [
    ("PATCH", "/sessions/{id}", {"title": "x"}),
    ("DELETE", "/sessions/{id}", None),
    ("POST", "/sessions/{id}/chat", {"message": "x"}),
    ("POST", "/sessions/{id}/stop", None),
    ("POST", "/sessions/{id}/query", {"source": "fi", "sql": "SELECT 1"}),
    ("POST", "/turns/{id}/stop", None),
    ("POST", "/turns/{id}/retry", None),
    ("PATCH", "/domains/{id}", {"description": "x"}),
    ("DELETE", "/domains/{id}", None),
]
ROUTES = [*(("GET", path, None) for path in READS), *WRITES]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_an_unknown_id_is_not_found(
    stack: Stack, method: str, path: str, body: JSON | None
) -> None:
    answer = stack.client.request(method, path.format(id=NOBODY), json=body)

    check_problem(answer, 404)


@pytest.mark.parametrize("odd", ["1", "%00", "..%2f..", "null", "0" * 5000, "%ff", "é"])
@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_an_id_that_is_none_is_a_problem(
    stack: Stack, method: str, path: str, body: JSON | None, odd: str
) -> None:
    answer = stack.client.request(method, path.format(id=odd), json=body)

    assert answer.status_code in (404, 405, 422), answer.text
    check_problem(answer, answer.status_code)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/sessions", "limit=0"),
        ("/sessions", "limit=201"),
        ("/sessions", "limit=-1"),
        ("/sessions", "limit=many"),
        ("/sessions", "limit=" + "9" * 5000),
        ("/sessions", "cursor=nonsense"),
        ("/sessions", "cursor=%00"),
        ("/sessions", "cursor=%ed%a0%80"),
        ("/sessions", "cursor=MjAyNi0wMS0wMSBub3QtYW4taWQ="),
        ("/sessions", "q=" + "a+" * 10_001),
        ("/sessions", "status=asleep"),
        ("/sessions", "archived=maybe"),
        ("/sessions", "scope=theirs"),
        ("/domains", "limit=0"),
        ("/domains", "limit=1e9"),
    ],
)
def test_an_unusable_query_is_refused(stack: Stack, path: str, query: str) -> None:
    check_problem(stack.client.get(f"{path}?{query}"), 422)


@pytest.mark.parametrize(
    "query",
    ["after=-1", "after=x", "before=0", "before=-7", "limit=0", "limit=201", "limit=1.5"],
)
def test_an_unusable_page_of_messages_is_refused(stack: Stack, query: str) -> None:
    session_id = make_session(stack)

    check_problem(stack.client.get(f"/sessions/{session_id}/messages?{query}"), 422)


@pytest.mark.parametrize("number", [2**31, 2**63, 10**30])
@pytest.mark.parametrize("name", ["after", "before"])
def test_a_huge_position_gives_a_page_or_a_problem(stack: Stack, name: str, number: int) -> None:
    session_id = make_session(stack)

    answer = stack.client.get(f"/sessions/{session_id}/messages", params={name: number})

    assert answer.status_code in (200, 422), answer.text


@pytest.mark.parametrize(
    "q", ["'", "a' | b & !", ":*", "((", "\\", "<->", "%", "x" * 100_000, "\u202e", "🙂"]
)
def test_no_search_breaks_the_server(stack: Stack, q: str) -> None:
    answer = stack.client.get("/sessions", params={"q": q[:20_000]})

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("path", ["/sessions", "/domains", "/approvals", "/files", "/tasks"])
@pytest.mark.parametrize(
    "cursor",
    ["zzz", "%00", "%ff", "%25", "'", "x" * 10_000, "bnVsbA==", "W10=", "WzFd", "e30="],
)
def test_a_cursor_that_no_list_gave_is_refused(stack: Stack, path: str, cursor: str) -> None:
    check_problem(stack.client.get(f"{path}?cursor={cursor}"), 422)


@pytest.mark.parametrize(
    "place",
    [
        "x", "1-2-3", "-1", "1.x", "٣", "9" * 5000, "9" * 40, "1-1." + "9" * 40, "1_0", "\x00",
        "0-0.0.x", "0-0.0.a\nevent: made up", "0-0.0." + "a" * 50_000,
    ],
)  # fmt: skip
def test_an_event_id_that_is_none_is_refused(stack: Stack, place: str) -> None:
    session_id = make_session(stack)

    answer = stack.client.get(f"/sessions/{session_id}/events", params={"after": place})

    check_problem(answer, 422)


@pytest.mark.parametrize("place", ["x", "1-1." + "9" * 40, "0-0.0.x", "\xff", "", "a" * 50_000])
def test_a_last_event_id_that_is_none_is_refused(stack: Stack, place: str) -> None:
    session_id = make_session(stack)
    headers = {"Last-Event-ID": place.encode("latin-1")}

    with stack.client.stream("GET", f"/sessions/{session_id}/events", headers=headers) as answer:
        assert answer.status_code == (422 if place else 200)


def test_a_long_address_is_refused_with_a_sentence(stack: Stack) -> None:
    answer = stack.client.get("/sessions", params={"q": "x" * 64_000})

    assert "Send less" in check_problem(answer, 431)["detail"]


def test_thousands_of_parameters_do_not_break_the_server(stack: Stack) -> None:
    answer = stack.client.get("/sessions?" + "&".join(f"a{n}" for n in range(8_000)))

    assert answer.status_code < 500, answer.text


def test_every_error_is_problem_details(stack: Stack) -> None:
    lost = check_problem(stack.client.get("/no-such-route"), 404)
    check_problem(httpx.get(f"{stack.base_url}/nowhere"), 404)
    check_problem(stack.client.put("/chat", json={}), 405)
    check_problem(stack.client.delete("/sessions"), 405)
    check_problem(stack.client.get("/chat"), 405)
    check_problem(stack.client.post("/chat", json={}), 422)
    assert "/api/openapi.json" in lost["detail"]


def test_other_sites_are_kept_out(stack: Stack) -> None:
    foreign = {"Origin": "https://evil.example"}
    check_problem(stack.client.post("/chat", json={"message": "x"}, headers=foreign), 403)
    check_problem(stack.client.get("/sessions", headers={"Host": "evil.example"}), 421)
