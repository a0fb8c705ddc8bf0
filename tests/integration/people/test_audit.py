"""The audit trail: who did what, which nobody can change."""

import csv
import io
import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from backend import audit
from backend.logs.setup import AUDIT
from tests.integration.people.people import PASSWORD, Accounts
from tests.integration.scenes import check_problem


def events(admin: TestClient, **wanted: Any) -> list[dict[str, Any]]:
    answer = admin.get("/audit", params={"limit": 200, **wanted})
    items: list[dict[str, Any]] = answer.raise_for_status().json()["items"]
    return items


def actions(admin: TestClient, **wanted: Any) -> list[str]:
    return [one["action"] for one in reversed(events(admin, **wanted))]


def test_signing_in_and_out_is_recorded_and_so_is_failing_to(accounts: Accounts) -> None:
    admin, visitor, name = accounts.first_admin(), accounts.visitor(), f"grace-{uuid4().hex}"
    invited = admin.post("/people", json={"name": name}).json()
    choice, user_id = {"login": name, "password": PASSWORD}, invited["person"]["id"]
    signed_in = visitor.post(f"/one-time-links/{invited['link_token']}", json=choice).json()
    person = accounts.visitor(signed_in["token"])

    visitor.post("/sign-ins", json={"login": name, "password": "wrong"})
    visitor.post("/sign-ins", json={"login": "my password, mistyped", "password": "wrong"})
    person.post("/account/password", json={"old": "wrong", "new": "another four random words"})
    person.delete("/sign-ins").raise_for_status()

    told = events(admin, subject="user", subject_id=user_id)
    assert [one["action"] for one in reversed(told)] == [
        "invited", "password_set", "signed_in", "sign_in_failed", "password_change_failed",
        "signed_out",
    ]  # fmt: skip
    assert (told[0]["actor"], told[0]["actor_name"], told[0]["subject_name"]) == (
        user_id,
        name,
        name,
    )
    assert told[2]["actor"] == ""
    assert "mistyped" not in json.dumps(events(admin))


def test_refused_attempts_are_recorded_once_in_a_while(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    name, _ = accounts.person()
    newest = events(admin)[0]["id"]

    for _ in range(12):
        accounts.visitor().post("/sign-ins", json={"login": name, "password": "wrong"})

    refused = events(admin, action="sign_in_refused")
    assert len([one for one in refused if one["id"] > newest]) <= 1


def test_use_of_a_revoked_token_is_recorded_once(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    _, person = accounts.person()
    made = person.post("/account/tokens", json={"name": "program"}).json()
    person.delete(f"/account/tokens/{made['id']}").raise_for_status()
    program = accounts.visitor(made["token"])

    for _ in range(3):
        check_problem(program.get("/sessions"), 401)

    assert actions(admin, subject="token", subject_id=made["id"]) == [
        "made", "revoked", "use_refused"
    ]  # fmt: skip


def test_filters_and_pages_show_each_event_once(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    team = admin.post("/teams", json={"name": f"Team {uuid4().hex}"}).json()
    path = f"/teams/{team['id']}"
    for number in range(4):
        admin.patch(path, json={"name": f"{team['name']} {number}"}).raise_for_status()
    wanted = {"subject": "team", "subject_id": team["id"], "action": "renamed", "actor": "local"}

    first = admin.get("/audit", params={**wanted, "limit": 3}).json()
    after = {**wanted, "limit": 3, "cursor": first["next_cursor"]}
    second = admin.get("/audit", params=after).json()

    ids = [one["id"] for one in first["items"] + second["items"]]
    assert len(ids) == 4 and ids == sorted(ids, reverse=True) and second["next_cursor"] is None
    middle = {"since": second["items"][0]["at"], "until": first["items"][0]["at"]}
    assert [one["id"] for one in events(admin, **wanted, **middle)] == ids[1:4]
    kinds = admin.get("/audit/kinds").json()
    assert "renamed" in kinds["actions"] and "team" in kinds["subjects"]


@pytest.mark.parametrize(
    "params",
    [{"since": "2026-01-01T00:00:00"}, {"limit": 0}, {"cursor": "x"}, {"who": "me"},
     {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}],
)  # fmt: skip
def test_a_filter_that_means_nothing_is_refused(accounts: Accounts, params: Any) -> None:
    check_problem(accounts.first_admin().get("/audit", params=params), 422)


@pytest.mark.parametrize("role", ["member", "reviewer"])
def test_only_administrators_read_it(accounts: Accounts, role: str) -> None:
    _, person = accounts.person(role)

    for path in ("/audit", "/audit/kinds", "/audit/export"):
        check_problem(person.get(path), 403)


def test_an_export_has_all_that_matches_and_is_recorded(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    team = admin.post("/teams", json={"name": f"=cmd {uuid4().hex}"}).json()
    wanted = {"subject": "team", "subject_id": team["id"]}

    as_csv = admin.get("/audit/export", params=wanted)
    as_lines = admin.get("/audit/export", params={**wanted, "format": "jsonl"})

    (row,) = csv.DictReader(io.StringIO(as_csv.text))
    assert (row["action"], row["subject_name"]) == ("made", f"'{team['name']}")
    assert [json.loads(line) for line in as_lines.text.splitlines()] == events(admin, **wanted)
    exported = events(admin, action="exported", subject="audit trail")
    assert exported[0]["details"] == {"format": "jsonl", "filter": wanted}


@pytest.mark.parametrize(
    "change",
    ["UPDATE audit_events SET actor = 'x'", "DELETE FROM audit_events", "TRUNCATE audit_events"],
)
def test_nobody_changes_what_was_recorded(accounts: Accounts, change: str) -> None:
    accounts.first_admin()

    with pytest.raises(DBAPIError, match="only ever added"), accounts.database.transaction() as to:
        to.execute(text(change))


def test_each_event_is_a_line_of_the_log_once_it_is_committed(
    accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, AUDIT)

    with accounts.database.transaction() as session:
        event_id = audit.record(session, "me", "tried", "thing", "a\nb", {"count": 1})
        with session.begin_nested():
            session.execute(text("SELECT 1"))
        before = list(caplog.records)
    with pytest.raises(ZeroDivisionError), accounts.database.transaction() as session:
        audit.record(session, "me", "undone", "thing", "a")
        1 / 0  # noqa: B018

    (told,) = (vars(one)["event"] for one in caplog.records if one.name == AUDIT)
    assert [one for one in before if one.name == AUDIT] == []
    assert (told["id"], told["subject_id"], told["details"]) == (event_id, "a\nb", {"count": 1})
