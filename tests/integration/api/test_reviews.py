"""What an administrator does in another person's session is in the audit trail."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.auth.scope import Scope
from backend.schemas.people.rights import Review, Role
from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.callers import api_for
from tests.integration.scenes import check_problem
from tests.stack import Stack


@pytest.fixture
def admin(stack: Stack, tmp_path: Path) -> Iterator[TestClient]:
    """The API over the same database, asked by an administrator who owns nothing."""
    with api_for(stack, tmp_path, Scope("admin", Role.ADMIN, review=Review.ON)) as client:
        yield client


def recorded(stack: Stack, session_id: str) -> list[tuple[str, str, JSON]]:
    rows = stack.query(
        "SELECT actor, action, details FROM audit_events"
        " WHERE subject = 'session' AND subject_id = :id ORDER BY id",
        id=session_id,
    )
    return [(row.actor, row.action, row.details) for row in rows]


def test_what_an_administrator_does_in_a_session_of_somebody_else_is_recorded(
    stack: Stack, model: ScriptedModel, admin: TestClient
) -> None:
    asked = stack.client.post(
        "/chat", json={"message": script(ENDLESS)}, headers={"Prefer": "respond-async"}
    )
    session_id, turn_id = (asked.json()[name] for name in ("session_id", "turn_id"))
    path = f"/sessions/{session_id}"

    check_problem(admin.get(f"{path}/messages"), 404)  # before its owner can see that it is read
    for _ in range(2):
        admin.get(path).raise_for_status()
        admin.get(f"{path}/messages").raise_for_status()
        admin.get(f"{path}/state").raise_for_status()
    admin.get(f"{path}/export").raise_for_status()
    for _ in range(2):
        admin.post(f"/turns/{turn_id}/stop").raise_for_status()
    stack.finished(turn_id)
    admin.delete(path).raise_for_status()

    acts = recorded(stack, session_id)
    assert [action for _, action, _ in acts] == ["reviewed", "exported", "stopped", "deleted"]
    assert {actor for actor, _, _ in acts} == {"admin"}
    assert {details["owner"] for _, _, details in acts} == {"local"}
    assert acts[2][2]["turn_id"] == turn_id


def test_an_administrator_neither_changes_nor_continues_a_session_of_somebody_else(
    stack: Stack, model: ScriptedModel, admin: TestClient
) -> None:
    model.steps = [{"text": "done"}]
    turn = stack.chat("Hello")
    path = f"/sessions/{turn['session_id']}"

    check_problem(admin.patch(path, json={"title": "A secret name"}), 404)
    check_problem(admin.post(f"{path}/chat", json={"message": "and mine"}), 404)
    check_problem(admin.post(f"/turns/{turn['turn_id']}/retry"), 404)

    assert len(stack.messages(turn["session_id"])) == 2
    assert recorded(stack, turn["session_id"]) == []


def test_of_what_people_do_in_their_own_sessions_only_exports_are(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "done"}]
    turn = stack.chat("Hello")
    path = f"/sessions/{turn['session_id']}"

    stack.messages(turn["session_id"])
    stack.client.patch(path, json={"title": "Mine"}).raise_for_status()
    stack.client.get(f"{path}/export").raise_for_status()
    stack.client.post(f"/turns/{turn['turn_id']}/stop").raise_for_status()

    assert [action for _, action, _ in recorded(stack, turn["session_id"])] == ["exported"]
