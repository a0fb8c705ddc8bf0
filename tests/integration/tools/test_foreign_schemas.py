"""Calls are checked by their tool's schema; one that takes for ever costs its own call only."""

import threading

import httpx
import pytest
from mcp.types import CallToolResult, TextContent, Tool

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

NEVER_ENDING = "a" * 40 + "!"
PATTERN: JSON = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
LOOKING: JSON = {"type": "object", "properties": {"a": {"pattern": "^(?!b)(a+)+$"}}}
BRANCHES: JSON = {
    "type": "object",
    "$defs": {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(40)
    }
    | {"d40": {"const": 1}},
    "properties": {"a": {"$ref": "#/$defs/d0"}},
}


def tool_that_returns(schema: JSON) -> Tool:
    made = tool("evil")
    made.outputSchema = schema
    return made


def structured(name: str, arguments: JSON) -> CallToolResult:
    content = [TextContent(type="text", text="said")]
    return CallToolResult(content=content, structuredContent={"a": NEVER_ENDING})


def session_with(stack: Stack, server: ToolServer) -> str:
    """A session whose agent has the server's tools."""
    return make_session(stack, make_domain(stack, mcp_servers={"s": server.template})["name"])


@pytest.mark.parametrize(
    ("schema", "said"),
    [(PATTERN, "does not match"), (LOOKING, "within 2 seconds"), (BRANCHES, "within 2 seconds")],
    ids=["pattern", "lookaround", "branches"],
)
def test_a_result_that_cannot_be_checked_is_kept_and_others_go_on(
    stack: Stack, schema: JSON, said: str
) -> None:
    with ToolServer([tool_that_returns(schema)], structured) as server:
        session_id = session_with(stack, server)
        calls = {"tools": [{"name": "evil", "args": {"a": NEVER_ENDING}}] * 3}
        turn = stack.submit(script(calls, {"text": "End."}), session_id)

        bystander = stack.chat(script({"text": "Unharmed."}))
        ended = stack.finished(turn["turn_id"], 60)

    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    assert bystander["response"] == "Unharmed."
    assert ended["status"] == "succeeded"
    assert [row["content"]["is_error"] for row in results] == [False] * 3
    assert all(said in row["content"]["content"] for row in results)


def test_a_call_whose_arguments_do_not_fit_never_reaches_the_server(stack: Stack) -> None:
    schema = {
        "type": "object",
        "properties": {"account": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["account", "amount"],
    }
    wrong = [{"account": "4711"}, {"account": "4711", "amount": "a lot"}, {"account": NEVER_ENDING}]
    with ToolServer([tool("book", schema)], lambda *_: "done") as server:
        session_id = session_with(stack, server)
        right = {"account": "4711", "amount": 12.5}
        calls = [{"tools": [{"name": "book", "args": args}]} for args in (*wrong, right)]
        stack.chat(script(*calls, {"text": "End."}), session_id)

    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    said = [row["content"]["content"] for row in results]
    assert server.calls == [("book", right)]
    assert [row["content"]["is_error"] for row in results] == [True, True, True, False]
    assert "'amount' is a required property" in said[0]
    assert "amount: 'a lot' is not of type 'number'" in said[1]
    assert all("the tool was not called" in one for one in said[:3])


@pytest.mark.parametrize(
    ("schema", "said"),
    [(PATTERN, "does not match"), (LOOKING, "within 2 seconds"), (BRANCHES, "within 2 seconds")],
    ids=["pattern", "lookaround", "branches"],
)
def test_arguments_against_such_a_schema_are_refused_too(
    stack: Stack, schema: JSON, said: str
) -> None:
    with ToolServer([tool("evil", schema)], lambda *_: "done") as server:
        session_id = session_with(stack, server)
        call = {"tools": [{"name": "evil", "args": {"a": NEVER_ENDING}}]}
        stack.chat(script(call, {"text": "End."}), session_id)

    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    assert server.calls == []
    assert said in results[0]["content"]["content"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [(PATTERN, "does not match"), (LOOKING, "could not be checked"), (BRANCHES, "could not be")],
    ids=["pattern", "lookaround", "branches"],
)
def test_edited_arguments_are_refused_while_the_api_answers_others(
    stack: Stack, schema: JSON, said: str
) -> None:
    rules = [{"tools": "*", "action": "ask"}]
    with ToolServer([tool("evil", schema)], lambda *_: "done") as server:
        domain = make_domain(
            stack,
            mcp_servers={"s": server.template},
            middleware=[{"approvals": {"rules": rules}}],
        )
        session_id = make_session(stack, domain["name"])
        call = {"tools": [{"name": "evil", "args": {}}]}
        turn_id = stack.submit(script(call, {"text": "End."}), session_id)["turn_id"]
        waits = lambda: stack.turn(turn_id)["status"] == "waiting"  # noqa: E731
        stack.wait_for(waits, "the turn does not wait")
        path, body = f"/turns/{turn_id}/decisions", {"args": {"a": NEVER_ENDING}, "type": "edit"}
        answers: list[httpx.Response] = []
        deciding = [
            threading.Thread(
                target=lambda: answers.append(
                    stack.client.post(path, json={"decisions": [body]}, timeout=60)
                )
            )
            for _ in range(3)
        ]
        for thread in deciding:
            thread.start()

        alive = httpx.get(f"{stack.base_url}/healthz", timeout=10)
        for thread in deciding:
            thread.join(60)
        approved = stack.client.post(path, json={"decisions": [{"type": "approve"}]})
        ended = stack.finished(turn_id, 60)

    assert alive.status_code == 200
    assert [answer.status_code for answer in answers] == [422] * 3
    assert all(said in answer.json()["detail"] for answer in answers)
    assert (approved.status_code, ended["status"]) == (200, "succeeded")
