"""Domains over the API: templates that are checked, and images that never change."""

import json
from uuid import uuid4

import pytest

from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, list_all, make_domain, make_session, send_json
from tests.stack import Stack

EXPIRING = {"tools": "*", "action": "ask"}
DENYING = {"tools": "list_sources", "action": "deny"}


def deep(levels: int) -> dict:
    """An object in an object, and so on."""
    return {"x": deep(levels - 1)} if levels else {}


def test_a_domain_is_made_read_changed_and_deleted(stack: Stack) -> None:
    made = make_domain(stack, description="first", system_prompt="Be brief.")
    url = f"/domains/{made['id']}"

    changed = stack.client.patch(url, json={"description": "second"}).json()

    assert stack.client.get(url).json() == changed
    assert (changed["description"], changed["system_prompt"]) == ("second", "Be brief.")
    assert changed["version"] == made["version"] + 1
    assert stack.client.delete(url).status_code == 204
    check_problem(stack.client.get(url), 404)
    check_problem(stack.client.delete(url), 404)
    check_problem(stack.client.post("/sessions", json={"domain": made["name"]}), 404)


def test_a_session_keeps_its_image_whatever_becomes_of_its_domain(
    stack: Stack, model: ScriptedModel
) -> None:
    domain = make_domain(stack, system_prompt="The first prompt.", middleware=[])
    session_id = make_session(stack, domain["name"])
    image = stack.client.get(f"/sessions/{session_id}/image").json()

    change = {"system_prompt": "The second prompt.", "name": f"{domain['name']}-new"}
    stack.client.patch(f"/domains/{domain['id']}", json=change)
    stack.chat("one", session_id)
    stack.client.delete(f"/domains/{domain['id']}")
    stack.chat("two", session_id)

    assert stack.client.get(f"/sessions/{session_id}/image").json() == image
    systems = [messages[0] for messages in model.messages]
    assert systems == [{"role": "system", "content": "The first prompt."}] * 2
    assert [m["role"] for m in model.messages[1]] == ["system", "user", "assistant", "user"]
    session = stack.client.get(f"/sessions/{session_id}").json()
    assert (session["domain"], session["domain_id"]) == (change["name"], None)


def test_a_new_session_gets_the_changed_template(stack: Stack, model: ScriptedModel) -> None:
    domain = make_domain(stack, system_prompt="Old.")
    stack.client.patch(f"/domains/{domain['id']}", json={"system_prompt": "New."})

    stack.chat("hello", domain=domain["id"])

    assert model.messages[-1][0] == {"role": "system", "content": "New."}


def test_a_domain_is_chosen_by_name_or_id(stack: Stack) -> None:
    domain = make_domain(stack)

    for given in (domain["name"], domain["id"]):
        session_id = make_session(stack, given)
        assert stack.client.get(f"/sessions/{session_id}").json()["domain_id"] == domain["id"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"tools": ["no_such_tool"]},
        {"agents": [{"name": "a", "tools": ["no_such_tool"]}]},
        {"middleware": ["no_such_policy"]},
        {"middleware": [{"recent_messages": {"trigger": 1, "keep": 9}}]},
        {"middleware": [{"recent_messages": {"no_such_setting": 9}}]},
        {"middleware": [{}]},
        {"agents": [{"name": "a", "middleware": ["no_such_policy"]}]},
        {"agents": [{"name": "same"}, {"name": "Same"}]},
        {"agents": [{"name": "two words"}]},
        {"agents": [{"name": "a", "tools": ["query_source"]}], "tools": []},
        {"agents": [{"name": "a", "roles": []}]},
        {"mcp_servers": {"s": {"transport": "carrier_pigeon", "url": "x"}}},
        {"mcp_servers": {"s": {"transport": "stdio"}}},
        {"mcp_servers": {"s": {"transport": "stdio", "command": " "}}},
        {"mcp_servers": {"s": {"transport": "streamable_http", "url": "ftp://x"}}},
        {"mcp_servers": {"": {"transport": "stdio", "command": "c"}}},
        {"limits": {"steps": 0}},
        {"owner": "root"},
        {"name": "  "},
        {"name": "n" * 81},
        {"name": "\u200b"},
        {"model": "m" * 201},
        {"model": ""},
        {"agents": [{"name": "a", "model": " "}]},
        {"system_prompt": "p" * 500_001},
        {"agents": [{"name": "a", "system_prompt": "p" * 500_001}]},
        {"limits": {"tokens": 2**53}},
        {"limits": {"cost": 1e13}},
        {"limits": {"domain_tokens_per_month": 10**400}},
        {"retention_days": 36_501},
        {"manager": {"x": 1}},
        {"manager": {"recent_messages": 2**63}},
        {"manager": {"tools": ["no_such_tool"]}},
        {"manager": deep(41)},
        {"middleware": [{"summarization": {"trigger_tokens": 2**64}}]},
        {"middleware": [{"approvals": {"rules": [EXPIRING | {"expires_seconds": 10**12}]}}]},
        {"middleware": [{"approvals": {"rules": [DENYING | {"expires_seconds": 3_600}]}}]},
        {"middleware": [{"approvals": {"rules": [EXPIRING | {"decisions": ["edit", "edit"]}]}}]},
        {"middleware": [{"tool_call_limit": {"tool": "list_source", "turn": 1}}]},
        {"limits": {"cost": float("inf")}},
        {"limits": {"conversation_cost": float("nan")}},
        {"manager": {"continuity_seconds": float("nan")}},
        {"manager": deep(90)},
    ],
)
def test_a_template_that_cannot_work_is_refused(stack: Stack, wrong: dict) -> None:
    domain = make_domain(stack)
    name = f"wrong-{uuid4().hex[:8]}"

    check_problem(send_json(stack, "POST", "/domains", {"name": name, **wrong}), 422)
    check_problem(send_json(stack, "PATCH", f"/domains/{domain['id']}", wrong), 422)

    checked = send_json(stack, "POST", "/domains/check", {"name": name, **wrong}).json()
    assert [fault["path"][0] for fault in checked["faults"]] == [next(iter(wrong))]
    assert stack.client.get(f"/domains/{domain['id']}").json() == domain
    names = [item["name"] for item in list_all(stack, "/domains")]
    assert name not in names


def test_an_unknown_tool_is_named(stack: Stack) -> None:
    answer = stack.client.post("/domains", json={"name": "n", "tools": ["frobnicate"]})

    assert "frobnicate" in check_problem(answer, 422)["detail"]


def test_a_name_is_taken_once(stack: Stack) -> None:
    one, other = make_domain(stack), make_domain(stack)

    check_problem(stack.client.post("/domains", json={"name": one["name"]}), 409)
    rename = {"name": one["name"]}
    check_problem(stack.client.patch(f"/domains/{other['id']}", json=rename), 409)


def test_the_default_domain_can_be_moved_but_not_deleted(stack: Stack) -> None:
    (default,) = [domain for domain in list_all(stack, "/domains") if domain["is_default"]]
    other = make_domain(stack)
    check_problem(stack.client.delete(f"/domains/{default['id']}"), 409)
    refused = stack.client.patch(f"/domains/{default['id']}", json={"is_default": False})
    check_problem(refused, 409)

    stack.client.patch(f"/domains/{other['id']}", json={"is_default": True})
    chosen = stack.client.get(f"/sessions/{make_session(stack)}").json()["domain_id"]
    stack.client.patch(f"/domains/{default['id']}", json={"is_default": True})

    assert chosen == other["id"]
    assert stack.client.get(f"/domains/{other['id']}").json()["is_default"] is False


@pytest.mark.parametrize("field", ["is_default", "archived", "name", "system_prompt", "limits"])
def test_what_always_has_a_value_cannot_be_changed_to_none(stack: Stack, field: str) -> None:
    domain = make_domain(stack)

    answer = stack.client.patch(f"/domains/{domain['id']}", json={field: None})

    assert field in check_problem(answer, 422)["detail"]
    assert stack.client.get(f"/domains/{domain['id']}").json() == domain


def test_a_change_that_leaves_nothing_of_a_domain_is_refused(stack: Stack) -> None:
    said = {"description": "Costs.", "system_prompt": "Be brief.", "middleware": ["todos"]}
    domain = make_domain(stack, **said)
    url = f"/domains/{domain['id']}"

    empty = {"description": "", "system_prompt": "", "middleware": []}
    refused = stack.client.patch(url, json=empty)
    kept = stack.client.get(url).json()
    one_by_one = [stack.client.patch(url, json={name: value}) for name, value in empty.items()]

    assert refused.status_code == 422
    assert (
        "clear all of the domain's description, middleware, system_prompt"
        in refused.json()["detail"]
    )
    assert kept == domain
    assert [answer.status_code for answer in one_by_one] == [200, 200, 200]


def test_pages_of_domains_have_each_once_by_name(stack: Stack) -> None:
    made = {make_domain(stack)["name"] for _ in range(5)}
    names: list[str] = []
    cursor = None

    while True:
        page = stack.client.get("/domains", params={"limit": 2, "cursor": cursor}).json()
        names += [domain["name"] for domain in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert len(names) == len(set(names))
    assert made <= set(names)


def test_agents_are_asked_by_name(stack: Stack, model: ScriptedModel) -> None:
    agents = [
        {"name": "Anna", "system_prompt": "You are Anna.", "model": "anna-model"},
        {"name": "Ben", "system_prompt": "You are Ben."},
    ]
    domain = make_domain(stack, agents=agents, model="domain-model")
    session_id = make_session(stack, domain["name"])

    first = stack.chat("hello", session_id)
    second = stack.chat("hello", session_id, agent="ben")

    assert (first["agent"], second["agent"]) == ("Anna", "Ben")
    assert [request["model"] for request in model.requests] == ["anna-model", "domain-model"]
    prompts = [messages[0]["content"] for messages in model.messages]
    assert prompts == ["You are Anna.", "You are Ben."]
    unknown = {"message": "hello", "agent": "Carl"}
    answer = stack.client.post(f"/sessions/{session_id}/chat", json=unknown)
    assert "Anna" in check_problem(answer, 422)["detail"]


def test_what_was_stored_before_there_were_bounds_goes_on_working(
    stack: Stack, model: ScriptedModel
) -> None:
    rule = EXPIRING | {"expires_seconds": 10**12}
    odd = {
        "limits": {"tokens": str(2**64), "conversation_tokens": 2**62, "cost": 1e300},
        "retention_days": 10**30,
        "system_prompt": "p" * 500_001,
        "middleware": [{"approvals": {"rules": [rule | {"tools": "no_tool"}]}}],
    }
    domain = make_domain(stack)
    stack.query_and_commit(
        "UPDATE domains SET name = :name, template = CAST(:template AS jsonb) WHERE id = :id",
        id=domain["id"], name=f" {domain['name']} ", template=json.dumps(odd),
    )  # fmt: skip

    read = stack.client.get(f"/domains/{domain['id']}").json()

    assert read["name"] == f" {domain['name']} "
    assert (read["limits"]["tokens"], read["limits"]["cost"]) == (2**53 - 1, 1e12)
    assert (read["retention_days"], len(read["system_prompt"])) == (36_500, 500_001)
    assert stack.chat("hello", domain=domain["id"])["status"] == "succeeded"
    for answer in (stack.client.get("/retention"), stack.client.post("/retention")):
        assert answer.status_code == 200, answer.text
    changed = stack.client.patch(
        f"/domains/{domain['id']}", json={"system_prompt": "p", "middleware": []}
    )
    assert changed.json()["limits"] == read["limits"]


def test_a_name_has_no_blanks_around_it(stack: Stack) -> None:
    name = f"n {uuid4().hex[:8]}"

    made = stack.client.post("/domains", json={"name": f" {name}\t"}).json()
    check_problem(stack.client.post("/domains", json={"name": name}), 409)
    copied = stack.client.post(f"/domains/{made['id']}/duplicate", json={"name": f" {name} 2 "})
    renamed = stack.client.patch(f"/domains/{made['id']}", json={"name": f"{name} 3 "})

    assert (made["name"], copied.json()["name"]) == (name, f"{name} 2")
    assert renamed.json()["name"] == f"{name} 3"
