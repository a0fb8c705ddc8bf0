"""What is sent is taken as it is or refused: nothing is ignored, nothing taken for another."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, make_domain, make_session, send_json
from tests.stack import Stack

UNLISTED = [("GET", path) for path in ("/api/openapi.json", "/api/docs", "/api/docs/start.js")]
NO_BOOLEANS = ["0", "1", "yes", "on", "t", "", "null", "truee"]
NO_INTEGERS = ["5.0", "1_0", " 5", "5 ", "+5", "\u0665", "true", "", "0x5", "5e0"]
NO_BOOLEAN_VALUES = [0, 1, "true", "yes", 1.0]
NO_NUMBER_VALUES = ["5", True]
NO_INTEGER_VALUES = [*NO_NUMBER_VALUES, 5.0]


def read_openapi(stack: Stack) -> JSON:
    document: JSON = httpx.get(f"{stack.base_url}/api/openapi.json", timeout=10).json()
    return document


def list_operations(document: JSON) -> Iterator[tuple[str, str, JSON]]:
    for path, operations in document["paths"].items():
        names = {
            parameter["name"]: "1" if parameter["schema"].get("type") == "integer" else uuid4()
            for operation in operations.values()
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "path"
        }
        for method, operation in operations.items():
            yield method.upper(), path.format(**names), operation


def list_queries(document: JSON, kind: str) -> Iterator[tuple[str, str, str]]:
    for method, path, operation in list_operations(document):
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            kinds = {each.get("type") for each in (schema, *schema.get("anyOf", ()))}
            if parameter["in"] == "query" and kind in kinds:
                yield method, path, parameter["name"]


def test_no_route_ignores_a_parameter_that_it_does_not_know(stack: Stack) -> None:
    document = read_openapi(stack)
    routes = [*UNLISTED, *((method, path) for method, path, _ in list_operations(document))]

    for method, path in routes:
        answer = httpx.request(method, f"{stack.base_url}{path}?mine=yes", timeout=10)
        assert "`mine`" in check_problem(answer, 422)["detail"], (method, path)

    assert len(routes) > 50


def test_a_refusal_names_what_is_known_and_what_was_meant(stack: Stack) -> None:
    def refusal(query: str) -> str:
        return str(check_problem(stack.client.get(f"/sessions?{query}"), 422)["detail"])

    assert "`limt`" in refusal("limt=5")
    assert "Did you mean `limit`?" in refusal("limt=5")
    assert "archived, cursor, domain, has_errors, has_thumbs_down, legacy_id, limit" in refusal(
        "a=1"
    )
    assert "Did you mean" not in refusal("zzzzz=1")
    assert "takes no query parameters" in check_problem(
        stack.client.get("/work?x=1"), 422
    )["detail"]  # fmt: skip
    assert "`Limit`" in refusal("Limit=5")
    assert "``" in refusal("=5")
    assert len(refusal("&".join(f"{'x' * 50}{n}" for n in range(300)))) < 2_000
    assert "`a\u2400`" in refusal("a%00=1")


def test_a_text_of_the_wrong_length_is_refused_in_characters(stack: Stack) -> None:
    long = stack.client.get("/search", params={"q": "x" * 1_001})
    empty = stack.client.post("/domains", json={"name": " "})

    assert "at most 1,000 characters" in check_problem(long, 422)["detail"]
    assert "name: this must have at least 1 character" in check_problem(empty, 422)["detail"]


def test_a_parameter_that_is_sent_twice_is_refused(stack: Stack) -> None:
    for query in ("limit=5&limit=6", "q=a&q=a", "scope=mine&scope=all"):
        detail = check_problem(stack.client.get(f"/sessions?{query}"), 422)["detail"]
        assert "more than once" in detail


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b'{"message": "one", "message": "two"}', "`message`"),
        (b'{"message": "one", "\\u006dessage": "one"}', "`message`"),
        (b'{"message": "one", "domain": null, "domain": null, "agent": 1, "agent": 2}', "`agent`"),
        (b'{"message": "one", "x": [{"\\ud800": 1, "\\ud800": 2}]}', "`\ufffd`"),
    ],
)
def test_a_field_that_is_sent_twice_is_refused(stack: Stack, body: bytes, named: str) -> None:
    json_type = {"Content-Type": "application/json"}

    answer = stack.client.post("/chat", content=body, headers=json_type)

    problem = check_problem(answer, 422)
    assert named in problem["detail"]
    assert "more than once" in problem["detail"]


def test_a_header_that_is_sent_twice_is_refused(stack: Stack) -> None:
    session_id = make_session(stack)
    keys = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    ids = [("Last-Event-ID", "0"), ("Last-Event-ID", "1")]

    posted = stack.client.post("/chat", json={"message": "x"}, headers=keys)
    followed = stack.client.get(f"/sessions/{session_id}/events", headers=ids)

    assert "`idempotency-key`" in check_problem(posted, 422)["detail"]
    assert "`last-event-id`" in check_problem(followed, 422)["detail"]


def test_a_header_that_changes_nothing_is_refused(stack: Stack) -> None:
    session_id = make_session(stack)
    count = len(stack.client.get("/sessions").json()["items"])
    key, event = {"Idempotency-Key": "one"}, {"Last-Event-ID": "1"}

    created = stack.client.post("/sessions", json={}, headers=key)
    renamed = stack.client.patch(f"/sessions/{session_id}", json={"title": "x"}, headers=key)
    read = stack.client.get(f"/sessions/{session_id}/messages", headers=event)

    for answer, name in ((created, "idempotency-key"), (renamed, "idempotency-key")):
        assert f"`{name}`" in check_problem(answer, 422)["detail"]
    assert "`last-event-id`" in check_problem(read, 422)["detail"]
    assert len(stack.client.get("/sessions").json()["items"]) == count
    assert stack.client.get(f"/sessions/{session_id}").json()["title"] != "x"


def test_a_body_of_a_call_that_takes_none_is_refused(stack: Stack) -> None:
    routes = [
        (method, path)
        for method, path, operation in list_operations(read_openapi(stack))
        if method != "GET" and "requestBody" not in operation
    ]

    for method, path in routes:
        url = f"{stack.base_url}{path}"
        answer = httpx.request(method, url, json={"force": True}, timeout=10)
        assert "takes no body" in check_problem(answer, 422)["detail"], (method, path)
        if path.endswith("/stop"):
            assert httpx.request(method, url, json={}, timeout=10).status_code == 404

    assert len(routes) > 8


def test_a_boolean_of_a_query_is_true_or_false(stack: Stack) -> None:
    queries = list(list_queries(read_openapi(stack), "boolean"))

    for method, path, name in queries:
        for value in NO_BOOLEANS:
            sent = f"{stack.base_url}{path}?{urlencode({name: value})}"
            told = check_problem(httpx.request(method, sent, timeout=10), 422)["detail"]
            assert f"query.{name}" in told, (path, value)

    assert {name for *_, name in queries} == {
        "archived",
        "pinned",
        "counted",
        "has_errors",
        "has_thumbs_down",
        "dry_run",
        "tool_tables",
    }
    for value in ("true", "false"):
        assert stack.client.get("/sessions", params={"archived": value}).status_code == 200


def test_an_integer_of_a_query_is_digits(stack: Stack) -> None:
    queries = list(list_queries(read_openapi(stack), "integer"))

    for method, path, name in queries:
        for value in NO_INTEGERS:
            sent = f"{stack.base_url}{path}?{urlencode({name: value})}"
            told = check_problem(httpx.request(method, sent, timeout=10), 422)["detail"]
            assert f"query.{name}" in told, (path, value)

    assert {name for *_, name in queries} == {
        "limit",
        "after",
        "after_seconds",
        "before",
        "around",
        "days",
        "offset",
    }


def test_an_integer_of_a_path_is_digits(stack: Stack) -> None:
    for path in (
        "domains/{0}/versions/{1}",
        "sessions/{0}/calls/{1}/1",
        "sessions/{0}/calls/1/{1}",
    ):
        for value in ("5.0", "1_0", "+5"):
            check_problem(stack.client.get(path.format(uuid4(), value)), 422)


def exact_fields(document: JSON, schema: JSON, path: tuple[str, ...] = ()) -> Iterator[Any]:
    """The places of booleans and numbers in a body, with the values that are none."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from exact_fields(document, each, path)
    wrong = {
        "boolean": NO_BOOLEAN_VALUES, "integer": NO_INTEGER_VALUES, "number": NO_NUMBER_VALUES,
    }.get(schema.get("type", ""))  # fmt: skip
    if wrong:
        yield path, wrong
    for name, inner in schema.get("properties", {}).items():
        yield from exact_fields(document, inner, (*path, name))
    if schema.get("type") == "array":
        yield from exact_fields(document, schema["items"], (*path, "0"))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from exact_fields(document, schema["additionalProperties"], (*path, "x"))


def body_with(place: tuple[str, ...], value: Any) -> Any:
    for name in reversed(place):
        value = [value] if name == "0" else {name: value}
    return value


def test_a_number_of_a_body_is_no_text_and_a_boolean_no_number(stack: Stack) -> None:
    document = read_openapi(stack)
    tried = set()

    for method, path, operation in list_operations(document):
        if "requestBody" not in operation:
            continue
        (content,) = operation["requestBody"]["content"].values()
        for place, values in exact_fields(document, content["schema"]):
            for value in values:
                body = body_with(place, value)
                sent = httpx.request(method, f"{stack.base_url}{path}", json=body, timeout=10)
                told = check_problem(sent, 422)["detail"]
                # Which kind of tool server it is is asked first; the field alone does not say it.
                assert place[-1] in told or "mcp_servers" in place, (path, body, told)
            tried.add(place)

    assert {
        ("archived",),
        ("pinned",),
        ("limits", "steps"),
        ("limits", "cost"),
        ("version",),
    } < tried
    assert {("remember",), ("retention_days",), ("is_default",)} < tried


@pytest.mark.parametrize("value", NO_BOOLEAN_VALUES)
def test_what_is_no_boolean_changes_nothing(stack: Stack, value: Any) -> None:
    session_id = make_session(stack)
    domain = make_domain(stack)

    check_problem(send_json(stack, "PATCH", f"/sessions/{session_id}", {"archived": value}), 422)
    check_problem(send_json(stack, "PATCH", f"/domains/{domain['id']}", {"archived": value}), 422)

    assert stack.client.get(f"/sessions/{session_id}").json()["archived"] is False
    assert stack.client.get(f"/domains/{domain['id']}").json()["archived"] is False


@pytest.mark.parametrize(
    "settings",
    [
        {"model_call_limit": {"turn": "5"}},
        {"model_call_limit": {"turn": 5.0}},
        {"tool_call_limit": {"turn": True}},
        {"recent_messages": {"trigger": "200"}},
        {"tool_retry": {"seconds": "1"}},
        {"approvals": {"rules": [{"tools": "*", "action": "ask", "expires_seconds": "60"}]}},
    ],
)
def test_a_setting_of_a_policy_is_no_other_kind_of_value(stack: Stack, settings: JSON) -> None:
    template = {"name": "x", "middleware": [settings]}
    (name,) = settings

    told = check_problem(send_json(stack, "POST", "/domains", template), 422)["detail"]

    assert name in told
    checked = stack.client.post("/domains/check", json=template).json()
    assert len(checked["faults"]) == 1


def test_a_server_of_tools_is_waited_for_a_number_of_seconds(stack: Stack) -> None:
    for field in ("connect_seconds", "call_seconds"):
        for value in NO_NUMBER_VALUES:
            server = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp", field: value}
            answer = send_json(
                stack, "POST", "/domains", {"name": "x", "mcp_servers": {"a": server}}
            )
            assert field in check_problem(answer, 422)["detail"]
