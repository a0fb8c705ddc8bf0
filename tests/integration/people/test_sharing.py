"""Sessions of one's own, of a team, shared, and of others: what each lets a person do."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.integration.people.people import Accounts
from tests.integration.scenes import check_problem
from tests.stack import Stack

ASYNC = {"Prefer": "respond-async"}
READS = [
    ("GET", ""),
    ("GET", "/messages"),
    ("GET", "/state"),
    ("GET", "/usage"),
    ("GET", "/agents"),
]
CONTINUES = [("POST", "/chat", {"message": "Go on"}), ("POST", "/stop", None)]
OWN_ACTS = [
    ("PATCH", "", {"title": "Mine"}),
    ("PATCH", "", {"pinned": True}),
    ("PATCH", "", {"archived": False}),
    ("GET", "/grants", None),
    ("PUT", "/grants", {"principal_type": "everyone", "right": "continue"}),
    ("GET", "/links", None),
    ("POST", "/links", {"days": 1}),
    ("DELETE", "", None),
]


def share(owner: TestClient, session_id: str, **grant: str) -> Any:
    answer = owner.put(f"/sessions/{session_id}/grants", json=grant)
    assert answer.status_code == 200, answer.text
    return answer.json()


def reach(accounts: Accounts, way: str) -> tuple[TestClient, str]:
    """Return a person, and a session that they reach in this way."""
    team = accounts.team()
    _, owner = accounts.person(teams=[team])
    name, person = accounts.person(teams=[team] if way in ("team's", "shared with a team") else [])
    body = {"team": team} if way == "team's" else {}
    client = person if way == "own" else owner
    session_id = client.post("/sessions", json=body).raise_for_status().json()["id"]
    client.post(f"/sessions/{session_id}/chat", json={"message": "Hello"}, headers=ASYNC)
    grants: dict[str, dict[str, str]] = {
        "shared to read": {"principal_type": "user", "principal_id": name, "right": "read"},
        "shared to continue": {"principal_type": "user", "principal_id": name, "right": "continue"},
        "shared with a team": {"principal_type": "team", "principal_id": team, "right": "continue"},
        "shared with everyone": {"principal_type": "everyone", "right": "read"},
    }
    if way in grants:
        share(owner, session_id, **grants[way])
    return person, session_id


@pytest.mark.parametrize(
    ("way", "rights"),
    [
        ("own", "own"),
        ("team's", "own"),
        ("shared to read", "read"),
        ("shared to continue", "continue"),
        ("shared with a team", "continue"),
        ("shared with everyone", "read"),
        ("another's", None),
    ],
)
def test_a_session_lets_a_person_do_what_they_have_the_right_to(
    accounts: Accounts, way: str, rights: str | None
) -> None:
    person, session_id = reach(accounts, way)
    levels = ["read", "continue", "own"]
    held = levels[: levels.index(rights) + 1] if rights else []
    acts = [
        *(("read", (method, path, None)) for method, path in READS),
        *(("continue", act) for act in CONTINUES),
        *(("own", act) for act in OWN_ACTS),
    ]

    shown = person.get(f"/sessions/{session_id}").json().get("rights")
    listed = [one["id"] for one in person.get("/sessions").json()["items"]]
    for level, (method, path, body) in acts:
        url = f"/sessions/{session_id}{path}"
        answer = person.request(method, url, json=body, headers=ASYNC)

        if level in held:
            assert answer.status_code < 400, (level, method, path, answer.text)
        else:
            missing = person.request(method, f"/sessions/{MISSING}{path}", json=body, headers=ASYNC)
            check_problem(answer, 404)
            assert answer.json()["detail"] == missing.json()["detail"], (method, path)
    assert shown == rights
    assert (session_id in listed) == bool(rights)


MISSING = "00000000-0000-4000-8000-000000000000"


def test_a_session_is_made_for_a_team_of_the_persons_only(accounts: Accounts) -> None:
    own, other = accounts.team(), accounts.team()
    _, person = accounts.person(teams=[own])

    made = person.post("/sessions", json={"team": own}).json()
    asked = person.post("/chat", json={"message": "Hello", "team": own}, headers=ASYNC).json()

    assert (made["team"], made["team_name"], made["rights"]) == (own, own, "own")
    assert person.get(f"/sessions/{asked['session_id']}").json()["team"] == own
    for path, body in (("/sessions", {}), ("/chat", {"message": "Hello"})):
        check_problem(person.post(path, json={**body, "team": other}), 404)
        check_problem(person.post(path, json={**body, "team": "random"}), 404)


def test_a_session_is_given_to_a_team_and_back_to_its_owner(accounts: Accounts) -> None:
    team = accounts.team()
    _, owner = accounts.person(teams=[team])
    _, colleague = accounts.person(teams=[team])
    session_id = owner.post("/sessions", json={}).json()["id"]
    path = f"/sessions/{session_id}"

    check_problem(colleague.get(path), 404)
    owner.patch(path, json={"team": team}).raise_for_status()
    assert colleague.get(path).json()["rights"] == "own"
    check_problem(colleague.patch(path, json={"team": None}), 403)
    owner.patch(path, json={"team": None}).raise_for_status()
    check_problem(colleague.get(path), 404)
    check_problem(owner.patch(path, json={"team": accounts.team()}), 404)


def test_what_is_shared_no_longer_does_not_exist(accounts: Accounts) -> None:
    person, session_id = reach(accounts, "another's")
    _, owner = accounts.person()
    session_id = owner.post("/sessions", json={}).json()["id"]
    name = person.get("/account").json()["user_id"]
    grant = {"principal_type": "user", "principal_id": name}

    share(owner, session_id, **grant, right="continue")
    (listed,) = owner.get(f"/sessions/{session_id}/grants").json()["items"]
    assert (listed["principal_name"], listed["right"]) == (name, "continue")
    share(owner, session_id, **grant, right="read")
    (listed,) = owner.get(f"/sessions/{session_id}/grants").json()["items"]
    assert (listed["principal_id"], listed["right"]) == (name, "read")
    assert person.get(f"/sessions/{session_id}").status_code == 200
    owner.delete(f"/sessions/{session_id}/grants", params=grant).raise_for_status()
    check_problem(person.get(f"/sessions/{session_id}"), 404)


def test_an_administrator_does_not_let_themselves_in(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    _, owner = accounts.person()
    session_id = owner.post("/sessions", json={}).json()["id"]
    own_id = admin.get("/account").json()["user_id"]
    grant = {
        "resource_type": "session", "resource_id": session_id, "principal_type": "user",
        "principal_id": own_id, "right": "read",
    }  # fmt: skip

    check_problem(admin.put("/grants", json=grant), 404)


def test_a_link_opens_to_who_is_signed_in_until_its_maker_is_disabled(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    name, owner = accounts.person()
    _, reader = accounts.person()
    session_id = owner.post("/sessions", json={}).json()["id"]
    made = owner.post(f"/sessions/{session_id}/links", json={"days": 3}).json()
    path = f"/shared/{made['token']}"

    check_problem(accounts.visitor().get(path), 401)
    assert reader.get(path).json()["id"] == session_id
    assert made["state"] == "valid" and made["expires_at"] > made["created_at"]
    admin.patch(f"/people/{name}", json={"disabled": True}).raise_for_status()
    check_problem(reader.get(path), 410)


def test_a_link_expires(accounts: Accounts, stack: Stack) -> None:
    _, owner = accounts.person()
    session_id = owner.post("/sessions", json={}).json()["id"]
    made = owner.post(f"/sessions/{session_id}/links").json()

    stack.query_and_commit(
        "UPDATE session_links SET expires_at = now() - interval '1 second' WHERE id = :id",
        id=made["id"],
    )

    check_problem(owner.get(f"/shared/{made['token']}"), 410)
    (listed,) = owner.get(f"/sessions/{session_id}/links").json()["items"]
    assert listed["state"] == "expired"
    check_problem(owner.post(f"/sessions/{session_id}/links", json={"days": 0}), 422)


def test_the_history_names_who_wrote_each_message(accounts: Accounts, stack: Stack) -> None:
    team = accounts.team()
    first, owner = accounts.person(teams=[team])
    second, colleague = accounts.person(teams=[team])
    session_id = owner.post("/sessions", json={"team": team}).json()["id"]
    for person in (owner, colleague):
        asked = person.post(f"/sessions/{session_id}/chat", json={"message": "Go"}, headers=ASYNC)
        stack.finished(asked.json()["turn_id"])

    rows = owner.get(f"/sessions/{session_id}/messages").json()["items"]
    text = owner.get(f"/sessions/{session_id}/export").text
    authors = [one["metadata"]["author"] for one in rows if one["message_type"] == "user"]

    assert authors == [{"id": one, "name": one} for one in (first, second)]
    assert [one in text for one in (first, second, "You")] == [True, True, False]
