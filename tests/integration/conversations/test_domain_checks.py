"""A domain is checked whole before it is used, and an image is the whole of its configuration."""

import json
from uuid import uuid4

from backend.schemas.domains.templates import DomainTemplate, Limits
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, list_all, make_domain, make_session
from tests.stack import Stack


def test_a_check_says_all_that_is_wrong_and_where_and_stores_nothing(stack: Stack) -> None:
    name = f"checked-{uuid4().hex[:8]}"
    body = {
        "name": name,
        "tools": ["no_such_tool"],
        "middleware": [{"recent_messages": {"keep": 0}}],
        "agents": [{"name": "A"}, {"name": "a", "middleware": ["no_such_policy"]}],
        "mcp_servers": {
            "s": {"transport": "stdio", "command": "c", "env": {"A": "${OPENAI_API_KEY}"}}
        },
    }

    checked = stack.client.post("/domains/check", json=body).json()
    malformed = stack.client.post(
        "/domains/check",
        json={"limits": {"steps": 0}, "mcp_servers": {"s": {"transport": "stdio"}}},
    ).json()

    assert checked["image"] is malformed["image"] is None
    assert [fault["path"] for fault in checked["faults"]] == [
        ["agents"],
        ["tools"],
        ["middleware", 0, "recent_messages", "keep"],
        ["agents", 1, "middleware", 0],
        ["mcp_servers", "s", "env"],
    ]
    paths = [fault["path"] for fault in malformed["faults"]]
    assert paths == [["name"], ["mcp_servers", "s", "command"], ["limits", "steps"]]
    assert all(fault["message"] for fault in checked["faults"] + malformed["faults"])
    assert name not in [domain["name"] for domain in list_all(stack, "/domains")]


def test_a_check_gives_the_image_of_a_session_to_come(stack: Stack) -> None:
    body = {
        "name": f"checked-{uuid4().hex[:8]}",
        "system_prompt": "Be brief.",
        "mcp_servers": {
            "s": {
                "transport": "streamable_http",
                "url": "http://localhost/mcp",
                "headers": {"A": "${COLLOQUY_SECRET_NOT_SET}"},
            }
        },
    }

    checked = stack.client.post("/domains/check", json=body).json()
    session_id = make_session(stack, make_domain(stack, **body)["name"])

    assert checked["faults"] == []
    assert checked["image"] == stack.client.get(f"/sessions/{session_id}/image").json()
    assert "COLLOQUY_SECRET_NOT_SET" in checked["warnings"][0]["message"]


def test_a_check_warns_of_a_limit_on_the_cost_of_models_without_a_price(stack: Stack) -> None:
    body = {"name": f"checked-{uuid4().hex[:8]}", "limits": {"cost": 1}}

    checked = stack.client.post("/domains/check", json=body).json()

    (warning,) = checked["warnings"]
    assert (checked["faults"], warning["path"]) == ([], ["limits", "cost"])
    assert "No price is set for scripted" in warning["message"]


def test_a_check_warns_of_tools_that_no_agent_has(stack: Stack) -> None:
    body = {
        "name": f"checked-{uuid4().hex[:8]}",
        "tools": ["query_source"],
        "mcp_servers": {"s": {"transport": "streamable_http", "url": "http://localhost/mcp"}},
        "manager": {"name": "Sage"},
    }

    alone = stack.client.post("/domains/check", json=body).json()
    helped = stack.client.post("/domains/check", json=body | {"agents": [{"name": "Ada"}]}).json()
    manager = {"name": "Sage", "tools": ["query_source"]}
    named = stack.client.post("/domains/check", json=body | {"manager": manager}).json()

    assert [warning["path"] for warning in alone["warnings"]] == [["tools"], ["mcp_servers"]]
    assert [alone["faults"], helped["faults"], named["faults"]] == [[], [], []]
    assert [helped["warnings"], named["warnings"]] == [[], []]


def test_an_image_is_the_whole_configuration(stack: Stack) -> None:
    session_id = make_session(stack, make_domain(stack)["name"])

    image = stack.client.get(f"/sessions/{session_id}/image").json()

    (stored,) = stack.query("SELECT image FROM conversations WHERE id = :id", id=session_id)
    assert image == stored.image
    assert set(image) == set(DomainTemplate.model_fields)
    assert [agent["name"] for agent in image["agents"]] == [stack.chat("hi", session_id)["agent"]]
    assert image["limits"]["steps"] == Limits().steps
    assert stack.client.get(f"/sessions/{session_id}/drift").json()["changes"] == []


def test_an_image_that_says_less_is_given_whole_and_asks_the_same(
    stack: Stack, model: ScriptedModel
) -> None:
    domain = make_domain(stack, system_prompt="Be brief.", tools=["list_sources"])
    new, old = (make_session(stack, domain["name"]) for _ in range(2))
    said = {"name": domain["name"], "system_prompt": "Be brief.", "tools": ["list_sources"]}
    stack.query_and_commit(
        f"UPDATE conversations SET image = '{json.dumps(said)}' WHERE id = '{old}'"
    )

    for session_id in (new, old):
        stack.chat("hello", session_id)

    images = [stack.client.get(f"/sessions/{one}/image").json() for one in (new, old)]
    assert images[0] == images[1]
    assert json.dumps(model.requests[0]) == json.dumps(model.requests[1])
    assert stack.client.get(f"/sessions/{old}/drift").json()["changes"] == []


def test_a_forbidden_secret_is_refused_when_a_domain_is_saved(stack: Stack) -> None:
    domain = make_domain(stack)
    server = {"transport": "streamable_http", "url": "http://h/${DATABASE_URL}"}
    wrong = {"mcp_servers": {"s": server}}

    answers = [
        stack.client.post("/domains", json={"name": f"d-{uuid4().hex[:8]}", **wrong}),
        stack.client.patch(f"/domains/{domain['id']}", json=wrong),
    ]

    assert all("DATABASE_URL" in check_problem(answer, 422)["detail"] for answer in answers)
    assert stack.client.get(f"/domains/{domain['id']}").json() == domain


def test_a_missing_secret_ends_the_turn_before_anything_is_sent(
    stack: Stack, model: ScriptedModel
) -> None:
    server = {"transport": "streamable_http", "url": f"{model.root_url}/${{COLLOQUY_SECRET_NOT}}"}
    session_id = make_session(stack, make_domain(stack, mcp_servers={"s": server})["name"])

    turn = stack.finished(stack.submit("Go.", session_id)["turn_id"])
    drift = stack.client.get(f"/sessions/{session_id}/drift").json()

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Secret missing")
    assert "COLLOQUY_SECRET_NOT" in turn["error"]["detail"]
    assert "COLLOQUY_SECRET_NOT" in drift["warnings"][0]
    assert model.requests == []


def test_the_catalog_names_what_a_domain_may_name(stack: Stack) -> None:
    catalog = stack.client.get("/catalog").json()

    tools = [tool["name"] for tool in catalog["tools"]]
    policies = {policy["name"]: policy["settings"] for policy in catalog["middleware"]}
    make_domain(stack, tools=tools, model=catalog["models"][0])
    assert "keep" in policies["recent_messages"]["properties"]
    assert catalog["default_model"] == "scripted"
