"""Domains over the API: templates that are checked, and images that never change."""

from uuid import uuid4

import pytest

from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack


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
    assert (session["domain"], session["domain_id"]) == (domain["name"], None)


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
        {"mcp_servers": {"s": {"transport": "carrier_pigeon", "url": "x"}}},
        {"mcp_servers": {"s": {"transport": "stdio"}}},
        {"limits": {"steps": 0}},
        {"owner": "root"},
        {"name": "  "},
        {"name": "n" * 81},
    ],
)
def test_a_template_that_cannot_work_is_refused(stack: Stack, wrong: dict) -> None:
    domain = make_domain(stack)
    name = f"wrong-{uuid4().hex[:8]}"

    check_problem(stack.client.post("/domains", json={"name": name, **wrong}), 422)
    check_problem(stack.client.patch(f"/domains/{domain['id']}", json=wrong), 422)

    assert stack.client.get(f"/domains/{domain['id']}").json() == domain
    names = [item["name"] for item in stack.client.get("/domains?limit=200").json()["items"]]
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
    listed = stack.client.get("/domains?limit=200").json()["items"]
    (default,) = [domain for domain in listed if domain["is_default"]]
    other = make_domain(stack)
    check_problem(stack.client.delete(f"/domains/{default['id']}"), 409)

    stack.client.patch(f"/domains/{other['id']}", json={"is_default": True})
    chosen = stack.client.get(f"/sessions/{make_session(stack)}").json()["domain_id"]
    stack.client.patch(f"/domains/{default['id']}", json={"is_default": True})

    assert chosen == other["id"]
    assert stack.client.get(f"/domains/{other['id']}").json()["is_default"] is False


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
