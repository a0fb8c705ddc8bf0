"""Daily budgets of people and teams, the usage of teams, and prices that are set on a page."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.types import JSON
from tests.fakes import script
from tests.integration.people.people import Accounts
from tests.integration.scenes import check_problem, tool_domain
from tests.stack import Stack

CALL = {"tools": [{"name": "look", "args": {}}]}
LATER = {"Prefer": "respond-async"}


def session_of(accounts: Accounts, person: TestClient, team: str | None = None, **body: str) -> str:
    """Make a session of a person, or of a team of theirs; return its id."""
    made = person.post("/sessions", json=body)
    assert made.status_code == 201, made.text
    with accounts.database.transaction() as session:
        session.connection().exec_driver_sql(
            "UPDATE conversations SET team = %s WHERE id = %s", (team, made.json()["id"])
        )
    return made.json()["id"]


def send(person: TestClient, session_id: str, message: str) -> Any:
    body = {"message": message}
    return person.post(f"/sessions/{session_id}/chat", json=body, headers=LATER)


def ask(stack: Stack, person: TestClient, session_id: str, words: int = 100) -> JSON:
    """Ask for an answer of so many words; return the finished turn."""
    accepted = send(person, session_id, script({"text": "word " * words}))
    assert accepted.status_code == 202, accepted.text
    return stack.finished(accepted.json()["turn_id"])


def tokens_of(turn: JSON) -> int:
    return int(turn["usage"]["input_tokens"] + turn["usage"]["output_tokens"])


def test_a_persons_budget_holds_at_the_next_message_and_says_when_it_renews(
    accounts: Accounts, stack: Stack
) -> None:
    admin = accounts.first_admin()
    name, person = accounts.person()
    _, other = accounts.person()
    session_id = session_of(accounts, person)
    used = tokens_of(ask(stack, person, session_id))

    admin.put(f"/budgets/user/{name}", json={"tokens": used}).raise_for_status()
    refused = check_problem(send(person, session_id, "more"), 429)
    own = person.get("/usage/own").json()
    warned = person.get("/server").json()["low_budgets"]
    admin.delete(f"/budgets/user/{name}").raise_for_status()

    assert refused["title"] == "Tokens used up"
    assert f"You have used {used:,} of {used:,} tokens" in refused["detail"]
    assert "renews at midnight UTC" in refused["detail"]
    (budget,) = own["budgets"]
    assert (own["tokens"], budget["left"], budget["is_low"]) == (used, 0, True)
    assert [one["limit"] for one in warned] == [used]
    assert ask(stack, person, session_id)["status"] == "succeeded"
    assert ask(stack, other, session_of(accounts, other))["status"] == "succeeded"


def test_a_teams_budget_counts_what_all_use_in_its_sessions_and_nothing_else(
    accounts: Accounts, stack: Stack
) -> None:
    admin, team = accounts.first_admin(), accounts.team("Finance & Co")
    (_, one), (_, other) = accounts.person(teams=[team]), accounts.person(teams=[team])
    shared, own = session_of(accounts, one, team), session_of(accounts, one)
    used = tokens_of(ask(stack, one, shared))

    limit = int(used / 0.85)
    admin.put(f"/budgets/team/{team}", json={"tokens": limit}).raise_for_status()
    ask(stack, one, own)
    (warned,) = other.get("/server").json()["low_budgets"]
    ask(stack, other, shared)
    refused = check_problem(send(one, shared, "more"), 429)

    assert (warned["principal_type"], warned["name"], warned["used"]) == (
        "team",
        "Finance & Co",
        used,
    )
    assert "All sessions of the team Finance & Co have used" in refused["detail"]
    assert ask(stack, one, own)["status"] == "succeeded"
    (row,) = [row for row in admin.get("/budgets").json()["items"] if row["principal_id"] == team]
    assert (row["name"], row["tokens"]) == ("Finance & Co", limit)
    assert row["used_tokens"] > used


@pytest.mark.parametrize("whose", ["user", "team"])
def test_a_budget_ends_a_running_turn_after_one_more_call(
    accounts: Accounts, stack: Stack, whose: str
) -> None:
    admin, team = accounts.first_admin(), accounts.team()
    name, person = accounts.person(teams=[team])
    calls: list[JSON] = []
    principal = f"/budgets/{whose}/{name if whose == 'user' else team}"

    def look(tool: str, arguments: JSON) -> str:
        calls.append(arguments)
        if len(calls) == 1:
            admin.put(principal, json={"tokens": 1}).raise_for_status()
        return "found"

    with tool_domain(stack, look, "look") as (domain, _):
        session_id = session_of(accounts, person, team, domain=domain["name"])
        slow = script(*(CALL | {"wait": 1} for _ in range(20)), {"text": "done"})
        turn = stack.finished(send(person, session_id, slow).json()["turn_id"])

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Tokens used up")
    assert "1 tokens" in turn["error"]["detail"]
    assert len(calls) < 10


def test_only_administrators_set_budgets_of_those_who_exist(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    name, person = accounts.person()
    team = accounts.team()

    check_problem(person.get("/budgets"), 403)
    check_problem(person.put(f"/budgets/user/{name}", json={"tokens": 10**9}), 403)
    check_problem(admin.put("/budgets/user/nobody", json={"tokens": 1}), 404)
    check_problem(admin.put("/budgets/team/none", json={"tokens": 1}), 404)
    check_problem(admin.put("/budgets/everyone/x", json={"tokens": 1}), 422)
    check_problem(admin.put(f"/budgets/user/{name}", json={"tokens": 0}), 422)
    check_problem(admin.put(f"/budgets/team/{team}", json={}), 422)


def test_usage_is_counted_by_team_and_each_figure_is_filtered(
    accounts: Accounts, stack: Stack
) -> None:
    admin, team = accounts.first_admin(), accounts.team("Analysts")
    (name, one), (other_name, other) = accounts.person(teams=[team]), accounts.person(teams=[team])
    ask(stack, one, session_of(accounts, one))
    of_one = tokens_of(ask(stack, one, session_of(accounts, one, team)))
    of_other = tokens_of(ask(stack, other, session_of(accounts, other, team)))

    def usage(asker: TestClient, **query: str) -> JSON:
        return asker.get("/usage", params=query).raise_for_status().json()

    by_team = usage(admin, by="team", team=team)
    by_person = usage(admin, by="owner", team=team)
    of_both = usage(admin, by="model", team=team, person=name)
    own = usage(one, by="team")
    foreign = usage(one, by="owner", person=other_name)

    (row,) = by_team["items"]
    assert (row["name"], row["turns"], tokens_of({"usage": row})) == (
        "Analysts",
        2,
        of_one + of_other,
    )
    assert {row["name"] for row in by_person["items"]} == {name, other_name}
    assert tokens_of({"usage": of_both["total"]}) == of_one
    assert [day["tokens"] for day in of_both["days"]] == [of_one]
    assert of_both["domains"] == []
    assert {(row["key"], row["turns"]) for row in own["items"]} == {("", 1), (team, 1)}
    assert (foreign["items"], foreign["total"]["turns"], foreign["days"]) == ([], 0, [])
    assert usage(admin, model="no such model")["total"]["turns"] == 0
    choices = one.get("/usage/choices").json()
    assert [choice["name"] for choice in choices["people"]] == [name]
    assert [choice["name"] for choice in choices["teams"]] == ["Analysts"]


def test_a_price_set_on_the_page_holds_for_running_workers(
    accounts: Accounts, stack: Stack
) -> None:
    admin = accounts.first_admin()
    _, person = accounts.person()
    session_id = session_of(accounts, person)
    free = ask(stack, person, session_id)
    price = {"model": "scripted", "input": 1, "output": 1_000_000}

    def asked() -> JSON | None:
        turn = ask(stack, person, session_id)
        return turn if turn["usage"]["cost"] else None

    (listed,) = admin.put("/model-prices", json=price).raise_for_status().json()["items"]
    priced = stack.wait_for(asked, "no worker learns the price")
    unpriced = admin.get("/usage").json()["unpriced"]
    left = admin.delete("/model-prices?model=scripted").raise_for_status().json()["items"]

    assert free["usage"]["cost"] == 0
    used = priced["usage"]
    assert used["cost"] == pytest.approx(used["output_tokens"] + used["input_tokens"] / 1e6)
    assert (listed["source"], listed["replaces_environment"]) == ("page", False)
    assert listed["saved_by"] == admin.get("/account").json()["name"]
    assert "scripted" not in unpriced
    assert left == []
    check_problem(admin.delete("/model-prices?model=scripted"), 404)
    check_problem(admin.put("/model-prices", json=price | {"input": -1}), 422)
    check_problem(person.put("/model-prices", json=price), 403)
