"""Who can be written to: in a session, a domain, and in all of them."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, list_all, make_domain, make_session
from tests.stack import Stack

FOR_DOCUMENTS = ("read_document", "search_document")  # there are none here
TEAM = {
    "model": "usual",
    "tools": ["list_sources", "query_source"],
    "manager": {"name": "Sage", "description": "Answers and delegates.", "tools": ["list_sources"]},
    "agents": [
        {"name": "Reconciler", "description": "Compares ledgers.", "model": "thorough"},
        {"name": "Writer", "tools": ["list_sources"], "roles": ["admin", "editor"]},
        {"name": "Auditor", "roles": ["auditor"]},
    ],
}


def test_agents_are_listed_with_what_they_have_for_those_who_may_ask_them(stack: Stack) -> None:
    domain = make_domain(stack, **TEAM)
    of_domain = stack.client.get(f"/domains/{domain['id']}/agents").json()["items"]

    assert of_domain == [
        {
            "name": "Sage", "description": "Answers and delegates.", "is_manager": True,
            "tools": ["list_sources"], "servers": [], "roles": None, "model": "usual",
        },
        {
            "name": "Reconciler", "description": "Compares ledgers.", "is_manager": False,
            "tools": ["list_sources", "query_source"], "servers": [], "roles": None,
            "model": "thorough",
        },
        {
            "name": "Writer", "description": "", "is_manager": False, "tools": ["list_sources"],
            "servers": [], "roles": ["admin", "editor"], "model": "usual",
        },
    ]  # fmt: skip
    found = list_all(stack, "/agents")
    (listed,) = [each for each in found if each["domain_id"] == domain["id"]]
    assert (listed["domain"], listed["agents"]) == (domain["name"], of_domain)


@pytest.mark.parametrize("agents", [[], [{"name": "A"}, {"name": "B", "tools": ["keep_file"]}]])
def test_an_agent_is_listed_with_the_tools_that_its_model_is_offered(
    stack: Stack, model: ScriptedModel, agents: list[JSON]
) -> None:
    domain = make_domain(stack, agents=agents)
    listed = stack.client.get(f"/domains/{domain['id']}/agents").json()["items"][0]["tools"]

    stack.chat("hello", domain=domain["name"])

    offered = [tool["function"]["name"] for tool in model.requests[-1]["tools"]]
    assert _without_documents(listed) == _without_documents(offered)
    assert ("make_artifact" in offered) == bool(agents)


def _without_documents(names: list[str]) -> list[str]:
    """Leave out what is offered only where there are documents; other tests may have some."""
    return [name for name in names if name not in FOR_DOCUMENTS]


def test_a_session_keeps_its_agents_and_an_archived_domain_is_not_listed(stack: Stack) -> None:
    domain = make_domain(stack, **TEAM)
    session_id = make_session(stack, domain["name"])
    before = stack.client.get(f"/sessions/{session_id}/agents").json()
    stack.client.patch(f"/domains/{domain['id']}", json={"manager": None, "archived": True})

    assert stack.client.get(f"/sessions/{session_id}/agents").json() == before
    assert [each["name"] for each in before["items"]] == ["Sage", "Reconciler", "Writer"]
    of_domain = stack.client.get(f"/domains/{domain['id']}/agents").json()["items"]
    assert [each["name"] for each in of_domain] == ["Reconciler", "Writer"]
    assert domain["id"] not in [each["domain_id"] for each in list_all(stack, "/agents")]
    nothing = "00000000-0000-0000-0000-000000000000"
    check_problem(stack.client.get(f"/sessions/{nothing}/agents"), 404)
    check_problem(stack.client.get(f"/domains/{nothing}/agents"), 404)


def test_a_domain_without_agents_has_the_one_that_answers(stack: Stack) -> None:
    domain = make_domain(stack)

    (one,) = stack.client.get(f"/domains/{domain['id']}/agents").json()["items"]

    assert (one["name"], one["is_manager"], one["model"]) == ("assistant", False, None)
    assert "query_source" in one["tools"]


def test_pages_of_agents_follow_each_other(stack: Stack) -> None:
    made = {make_domain(stack)["id"] for _ in range(3)}
    seen: list[str] = []
    cursor: str | None = ""

    while cursor is not None:
        page = stack.client.get("/agents", params={"limit": 2, "cursor": cursor or None}).json()
        seen += [each["domain_id"] for each in page["items"]]
        cursor = page["next_cursor"]

    assert made <= set(seen)
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    ("manager", "place", "said"),
    [
        ({"name": "reconciler"}, ["manager", "name"], "same name"),
        ({"tools": ["fly"]}, ["manager", "tools"], "no tool 'fly'"),
        ({"middleware": ["fly"]}, ["manager", "middleware", 0], "fly"),
        ({"recent_messages": 0}, ["manager", "recent_messages"], "at least 1"),
        ({"name": "two words"}, ["manager", "name"], ""),
    ],
)
def test_a_wrong_manager_is_told_at_its_place(
    stack: Stack, manager: dict, place: list, said: str
) -> None:
    body = {"name": "any", "agents": [{"name": "Reconciler"}], "manager": manager}

    (fault,) = stack.client.post("/domains/check", json=body).json()["faults"]

    assert fault["path"] == place
    assert said in fault["message"]
    check_problem(stack.client.post("/domains", json=body), 422)
