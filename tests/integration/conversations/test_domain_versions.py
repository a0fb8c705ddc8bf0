"""Every change of a domain is kept as a version, and changes nothing of existing sessions."""

import json
from uuid import uuid4

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import (
    check_problem,
    list_all,
    make_domain,
    make_session,
    wait_for_event,
)
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
        listed = list_all(stack, "/domains", archived=archived)
        assert (domain["id"] in {item["id"] for item in listed}) is archived
    change(stack, domain, archived=False)
    make_session(stack, domain["name"])


def test_the_default_domain_cannot_be_archived(stack: Stack) -> None:
    (default,) = [domain for domain in list_all(stack, "/domains") if domain["is_default"]]

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

    listed = list_all(stack, "/domains", counted=True)

    counts = {item["id"]: item["sessions"] for item in listed}
    assert (counts[domain["id"]], counts[unused["id"]]) == (2, 0)


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
