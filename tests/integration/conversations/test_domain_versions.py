"""Versions of a domain: kept, restored, protected from each other; archived and copied domains."""

import json
from uuid import uuid4

import pytest

from backend.schemas.domains.templates import DomainTemplate, Limits
from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, make_domain, make_session, wait_for_event
from tests.stack import Stack

SLOW = "word " * 60


def change(stack: Stack, domain: JSON, **fields: object) -> JSON:
    answer = stack.client.patch(f"/domains/{domain['id']}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def versions(stack: Stack, domain: JSON, **parameters: int) -> JSON:
    return stack.client.get(f"/domains/{domain['id']}/versions", params=parameters).json()


def acts(stack: Stack, domain: JSON) -> list[str]:
    """What the audit trail says was done to a domain."""
    sql = (
        "SELECT action FROM audit_events WHERE subject = 'domain' AND subject_id = :id ORDER BY id"
    )
    return [row.action for row in stack.query(sql, id=domain["id"])]


def test_every_change_is_kept_with_who_and_when(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.")
    change(stack, domain, system_prompt="Two.", name=f"{domain['name']}-b")

    listed = versions(stack, domain)["items"]
    first = stack.client.get(f"/domains/{domain['id']}/versions/1").json()

    assert [(v["version"], v["changed_by"]) for v in listed] == [(2, "local"), (1, "local")]
    assert [v["name"] for v in listed] == [f"{domain['name']}-b", domain["name"]]
    assert listed[0]["created_at"] > listed[1]["created_at"]
    assert first["template"]["system_prompt"] == "One."
    changed = {"path": ["system_prompt"], "kind": "changed", "image": "One.", "domain": "Two."}
    assert changed in first["changes"]
    assert acts(stack, domain) == ["created", "changed"]


def test_what_changes_nothing_is_no_version(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.")

    same = change(stack, domain, system_prompt="One.", version=1)
    change(stack, domain, archived=True)
    change(stack, domain, archived=False)

    assert same["version"] == 1
    assert len(versions(stack, domain)["items"]) == 1
    assert acts(stack, domain) == ["created", "archived", "unarchived"]


def test_an_earlier_version_is_restored_as_a_new_one(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.", tools=["list_sources"])
    change(stack, domain, system_prompt="Two.", tools=None)

    url = f"/domains/{domain['id']}/versions/1/restore"
    restored = stack.client.post(url, json={"version": 2}).json()

    assert (restored["version"], restored["system_prompt"]) == (3, "One.")
    assert restored["tools"] == ["list_sources"]
    assert [v["version"] for v in versions(stack, domain)["items"]] == [3, 2, 1]
    check_problem(stack.client.post(url, json={"version": 2}), 409)
    check_problem(stack.client.post(url.replace("/1/", "/9/")), 404)


def test_versions_come_in_pages(stack: Stack) -> None:
    domain = make_domain(stack)
    for number in range(4):
        change(stack, domain, description=str(number))

    first = versions(stack, domain, limit=2)
    second = versions(stack, domain, limit=2, before=first["next_before"])
    last = versions(stack, domain, limit=2, before=second["next_before"])

    pages = [[v["version"] for v in page["items"]] for page in (first, second, last)]
    assert pages == [[5, 4], [3, 2], [1]]
    assert last["next_before"] is None


def test_a_change_of_what_somebody_else_has_changed_is_refused(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.")
    newer = change(stack, domain, system_prompt="Theirs.", version=1)

    answer = stack.client.patch(
        f"/domains/{domain['id']}", json={"system_prompt": "Mine.", "version": 1}
    )

    assert "version 2" in check_problem(answer, 409)["detail"]
    assert stack.client.get(f"/domains/{domain['id']}").json() == newer


def test_an_archived_domain_takes_no_new_sessions_and_lets_others_go_on(
    stack: Stack, model: ScriptedModel
) -> None:
    domain = make_domain(stack)
    session_id = make_session(stack, domain["name"])
    change(stack, domain, archived=True)

    refused = [
        stack.client.post("/sessions", json={"domain": domain["name"]}),
        stack.client.post("/chat", json={"message": "hello", "domain": domain["id"]}),
        stack.client.post(f"/sessions/{session_id}/continue"),
        stack.client.patch(f"/domains/{domain['id']}", json={"is_default": True}),
    ]
    model.steps = [{"text": "I am here."}]

    assert stack.chat("Are you?", session_id)["response"] == "I am here."
    assert all("archived" in check_problem(answer, 409)["detail"] for answer in refused)
    for archived in (True, False):
        page = stack.client.get("/domains", params={"archived": archived, "limit": 200}).json()
        assert (domain["id"] in {item["id"] for item in page["items"]}) is archived
    change(stack, domain, archived=False)
    make_session(stack, domain["name"])


def test_the_default_domain_cannot_be_archived(stack: Stack) -> None:
    items = stack.client.get("/domains?limit=200").json()["items"]
    (default,) = [domain for domain in items if domain["is_default"]]

    answer = stack.client.patch(f"/domains/{default['id']}", json={"archived": True})

    check_problem(answer, 409)
    assert stack.client.get(f"/domains/{default['id']}").json() == default


def test_a_copy_is_a_domain_of_its_own(stack: Stack) -> None:
    domain = make_domain(stack, system_prompt="One.", agents=[{"name": "Anna"}])
    name = f"copy-{uuid4().hex[:8]}"

    url = f"/domains/{domain['id']}/duplicate"
    copy = stack.client.post(url, json={"name": name}).json()
    change(stack, domain, system_prompt="Two.")

    assert (copy["name"], copy["version"], copy["system_prompt"]) == (name, 1, "One.")
    assert copy["agents"] == domain["agents"]
    assert not copy["is_default"]
    assert stack.client.get(f"/domains/{copy['id']}").json() == copy
    check_problem(stack.client.post(url, json={"name": name}), 409)


def test_domains_are_listed_with_how_many_sessions_they_have(stack: Stack) -> None:
    domain, unused = make_domain(stack), make_domain(stack)
    for _ in range(2):
        make_session(stack, domain["name"])

    items = stack.client.get("/domains", params={"counted": True, "limit": 200}).json()["items"]

    counts = {item["id"]: item["sessions"] for item in items}
    assert (counts[domain["id"]], counts[unused["id"]]) == (2, 0)


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
    assert name not in stack.client.get("/domains?limit=200").text


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


@pytest.mark.parametrize("moment", ["before", "within"])
def test_an_edited_domain_changes_no_byte_of_what_existing_sessions_send(
    stack: Stack, model: ScriptedModel, moment: str
) -> None:
    template = {
        "system_prompt": "The first prompt.",
        "tools": ["list_sources", "get_budget"],
        "middleware": [{"recent_messages": {"trigger": 200, "keep": 100}}],
        "model": "first-model",
    }
    call = {"text": SLOW, "tools": [{"name": "list_sources", "id": "call_a"}]}

    def talk(domain: JSON, edit: bool) -> list[str]:
        model.clear()
        model.steps = [call, {"text": "Done."}]
        session_id = make_session(stack, domain["name"])
        stack.chat("one", session_id)
        if edit and moment == "before":
            edit_all(stack, domain)
        model.steps = [{**call, "delay": 0.02}, {"text": "Done."}]
        turn = stack.submit("two", session_id)
        wait_for_event(stack, session_id, "text_delta")
        if edit and moment == "within":
            edit_all(stack, domain)
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        model.steps = [call, {"text": "Done."}]
        stack.chat("three", session_id)
        return [json.dumps(request) for request in model.requests]

    untouched = talk(make_domain(stack, **template), edit=False)
    edited = talk(make_domain(stack, **template), edit=True)

    assert len(untouched) == 6
    assert edited == untouched


def edit_all(stack: Stack, domain: JSON) -> None:
    """Change all that a request is made of."""
    change(
        stack,
        domain,
        name=f"{domain['name']}-new",
        system_prompt="The second prompt.",
        tools=["compare_sources"],
        middleware=[{"recent_messages": {"trigger": 1, "keep": 1}}],
        model="second-model",
        agents=[{"name": "Other"}],
        limits={"steps": 1},
        archived=True,
    )
