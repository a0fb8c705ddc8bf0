"""Feedback: given by who may read an answer, read by who may review sessions."""

from fastapi.testclient import TestClient

from backend.types import JSON
from db.models.people.grant import GrantRow
from tests.integration.people.people import Accounts
from tests.integration.scenes import check_problem
from tests.stack import Stack


def ask(stack: Stack, person: TestClient) -> JSON:
    """Ask something, and return the finished turn."""
    headers = {"Prefer": "respond-async"}
    accepted = person.post("/chat", json={"message": "hello"}, headers=headers)
    assert accepted.status_code == 202, accepted.text
    return stack.finished(accepted.json()["turn_id"])


def rate(person: TestClient, turn: JSON, rating: str, comment: str = "") -> int:
    body = {"rating": rating, "comment": comment}
    return person.post(f"/turns/{turn['id']}/feedback", json=body).status_code


def own_rating(person: TestClient, turn: JSON) -> JSON | None:
    path = f"/sessions/{turn['session_id']}/usage/turns"
    (figures,) = person.get(path, params={"ids": turn["id"]}).json()["items"]
    return figures["feedback"]


def test_a_rating_is_one_per_person_replaced_and_taken_back(
    accounts: Accounts, stack: Stack
) -> None:
    _, person = accounts.person()
    turn = ask(stack, person)

    assert rate(person, turn, "up", "Exactly what I asked.") == 200
    assert rate(person, turn, "down", "=The sum is wrong.") == 200
    changed = own_rating(person, turn)
    person.delete(f"/turns/{turn['id']}/feedback").raise_for_status()

    assert changed and (changed["rating"], changed["comment"]) == ("down", "=The sum is wrong.")
    assert own_rating(person, turn) is None
    check_problem(person.post(f"/turns/{turn['id']}/feedback", json={"rating": "fine"}), 422)


def test_who_may_read_rates_and_sees_their_own_rating_only(
    accounts: Accounts, stack: Stack
) -> None:
    _, owner = accounts.person()
    guest_id, guest = accounts.person()
    _, stranger = accounts.person()
    _, reviewer = accounts.person("reviewer")
    turn = ask(stack, owner)
    with accounts.database.transaction() as session:
        session.add(
            GrantRow(
                resource_type="session",
                resource_id=turn["session_id"],
                principal_type="user",
                principal_id=guest_id,
                right="read",
                granted_by="test",
            )
        )

    assert rate(owner, turn, "up") == 200
    assert rate(guest, turn, "down", "Not for me.") == 200
    assert rate(stranger, turn, "down") == 404
    assert rate(reviewer, turn, "down") == 404
    assert (own_rating(owner, turn) or {})["rating"] == "up"
    assert (own_rating(guest, turn) or {})["comment"] == "Not for me."


def test_an_unfinished_turn_is_not_rated(accounts: Accounts, stack: Stack) -> None:
    _, person = accounts.person()
    turn = ask(stack, person)
    stack.query_and_commit(
        "UPDATE turns SET status = 'waiting', finished_at = NULL WHERE id = :id", id=turn["id"]
    )

    assert rate(person, turn, "up") == 409
    stack.query_and_commit(
        "UPDATE turns SET status = 'failed', finished_at = now(),"
        " error = jsonb_build_object('title', 'Lost', 'detail', 'Its worker was lost.')"
        " WHERE id = CAST(:id AS uuid)",
        id=turn["id"],
    )
    assert rate(person, turn, "down") == 200


def test_reviewers_read_all_feedback_and_members_none(accounts: Accounts, stack: Stack) -> None:
    name, person = accounts.person()
    _, reviewer = accounts.person("reviewer")
    turns = [ask(stack, person) for _ in range(3)]
    for turn, rating in zip(turns, ("up", "down", "up"), strict=True):
        assert rate(person, turn, rating, f"=said of {turn['id']}") == 200
    since = (own_rating(person, turns[0]) or {})["created_at"]

    def listed(**params: object) -> JSON:
        return reviewer.get("/feedback", params={"since": since, **params}).json()

    first = listed(limit=2)
    rest = listed(limit=2, cursor=first["next_cursor"])
    down = listed(rating="down")
    table = reviewer.get("/feedback", params={"since": since, "format": "csv"}).text

    assert [one["turn_id"] for one in first["items"] + rest["items"]] == [
        turn["id"] for turn in reversed(turns)
    ]
    assert (first["up"], first["down"], rest["next_cursor"]) == (2, 1, None)
    assert [(one["turn_id"], one["name"]) for one in down["items"]] == [(turns[1]["id"], name)]
    assert (down["up"], down["down"]) == (0, 1)
    assert table.count("\"'=said of ") == 3, "no spreadsheet runs what people wrote"
    check_problem(person.get("/feedback"), 403)
    check_problem(reviewer.get("/feedback", params={"format": "csv", "limit": 2}), 422)
    check_problem(reviewer.get("/feedback", params={"since": "2026-01-01T00:00:00"}), 422)
