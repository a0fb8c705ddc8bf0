"""A domain is tried before it is stored: what its model would be sent, which tools answer."""

import json
import re
from uuid import uuid4

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

DEAD = {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp"}
MIDDLEWARE = ["todos", {"context_editing": {"keep": 1}}, "summarization", "title"]


def try_request(stack: Stack, template: JSON, **more: object) -> JSON:
    body = {"template": {"name": "draft", **template}, "question": "How much?", **more}
    answer = stack.client.post("/domains/check/request", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def without_ids(messages: list[JSON]) -> str:
    """The messages as text, without the ids of the session and of the message."""
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", json.dumps(messages))


def test_the_request_is_the_one_that_a_turn_makes_and_nothing_is_sent_or_stored(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": "So much."}
    with ToolServer([tool("look", description="Looks.")], lambda name, _: "seen") as server:
        template = {
            "system_prompt": "Be brief.",
            "tools": ["list_sources"],
            "mcp_servers": {"s": server.template},
            "middleware": MIDDLEWARE,
            "agents": [{"name": "Anna", "system_prompt": "You are Anna."}, {"name": "Ben"}],
        }
        asked, sessions = len(model.requests), stack.client.get("/sessions").json()

        shown = try_request(stack, template)

        assert len(model.requests) == asked
        assert stack.client.get("/sessions").json() == sessions
        domain = make_domain(stack, **template)
        stack.chat("How much?", make_session(stack, domain["name"]))

    sent = model.requests[asked]
    assert {"messages": shown["messages"], "tools": shown["tools"], **shown["settings"]} == sent
    assert (shown["agent"], shown["purpose"], shown["problem"]) == ("Anna", "answer", None)
    assert {"list_sources", "look", "write_todos"} == {
        each["function"]["name"] for each in shown["tools"]
    }


def test_the_request_of_a_manager_is_the_one_that_a_turn_makes(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": '{"taskComplete": true, "message": "So much."}'}
    template = {
        "manager": {"name": "Sage", "system_prompt": "You are Sage."},
        "agents": [
            {"name": "Anna", "description": "Reads ledgers.", "tools": ["list_sources"]},
            {"name": "Ben", "description": "Decides.", "tools": [], "roles": ["admin"]},
        ],
    }
    asked = len(model.requests)

    shown = try_request(stack, template)

    domain = make_domain(stack, **template)
    stack.chat("How much?", make_session(stack, domain["name"]))
    sent = model.requests[asked]
    assert shown["tools"] == sent["tools"]
    assert without_ids(shown["messages"]) == without_ids(sent["messages"])
    assert "Ben: Decides." in json.dumps(shown["messages"])


def test_without_middleware_the_request_is_prompt_and_question(stack: Stack) -> None:
    shown = try_request(stack, {"system_prompt": "Be brief.", "tools": [], "middleware": []})

    assert shown["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How much?"},
    ]
    assert shown["tools"] == []


def test_what_keeps_a_turn_from_beginning_is_said_in_words(stack: Stack) -> None:
    unknown = try_request(stack, {"agents": [{"name": "Anna"}]}, agent="Ben")
    unset = {**DEAD, "headers": {"A": "${COLLOQUY_SECRET_NOT_SET}"}}
    secret = try_request(stack, {"mcp_servers": {"s": unset}})
    away = try_request(stack, {"mcp_servers": {"s": DEAD}})

    assert "There are: Anna." in unknown["problem"]
    assert "COLLOQUY_SECRET_NOT_SET" in secret["problem"]
    assert away["problem"] is None
    assert any("s" in notice for notice in away["notices"])


def test_servers_of_a_draft_are_looked_at_and_leave_no_trace(stack: Stack) -> None:
    domain = make_domain(stack)
    with ToolServer([tool("look", description="Looks.")], lambda name, _: "seen") as server:
        servers = {"there": server.template, "gone": DEAD}
        body = {"template": {"name": "draft", "mcp_servers": servers}, "domain_id": domain["id"]}

        answer = stack.client.post("/domains/check/servers", json=body)

    assert answer.status_code == 200, answer.text
    there, gone = answer.json()["items"]
    assert (there["answers"], [each["called"] for each in there["tools"]]) == (True, ["look"])
    assert not gone["answers"] and gone["problem"]
    assert stack.client.get(f"/domains/{domain['id']}/tool-versions").json()["items"] == []
    assert stack.client.get(f"/domains/{domain['id']}").json() == domain


def test_what_could_not_be_stored_is_not_tried(stack: Stack) -> None:
    wrong = {"name": "x", "middleware": ["no_such_policy"]}
    ask = {"template": {"name": "x"}, "question": "?"}

    refused = stack.client.post("/domains/check/servers", json={"template": wrong})
    unknown = stack.client.post("/domains/check/request", json={**ask, "domain_id": str(uuid4())})
    silent = stack.client.post("/domains/check/request", json={**ask, "question": ""})

    assert "no_such_policy" in check_problem(refused, 422)["detail"]
    check_problem(unknown, 404)
    check_problem(silent, 422)
