"""What an administrator does in another person's session is in the audit trail."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.auth.scope import Role, Scope
from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.callers import api_for
from tests.stack import Stack


@pytest.fixture
def admin(stack: Stack, tmp_path: Path) -> Iterator[TestClient]:
    """The API over the same database, asked by an administrator who owns nothing."""
    with api_for(stack, tmp_path, Scope("admin", Role.ADMIN)) as client:
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
    model.steps = [{"text": "done"}]
    session_id = stack.chat("Hello")["session_id"]
    path = f"/sessions/{session_id}"

    for _ in range(2):
        admin.get(f"{path}/messages").raise_for_status()
        admin.get(f"{path}/state").raise_for_status()
    admin.patch(path, json={"title": "A secret name", "pinned": True}).raise_for_status()
    admin.get(f"{path}/export").raise_for_status()
    asked = admin.post(
        f"{path}/chat", json={"message": script(ENDLESS)}, headers={"Prefer": "respond-async"}
    )
    turn_id = asked.raise_for_status().json()["turn_id"]
    for _ in range(2):
        admin.post(f"/turns/{turn_id}/stop").raise_for_status()
    stack.finished(turn_id)
    resumed = admin.post(f"/turns/{turn_id}/retry").raise_for_status().json()["id"]
    admin.post(f"/turns/{resumed}/stop").raise_for_status()
    stack.finished(resumed)
    admin.delete(path).raise_for_status()

    acts = recorded(stack, session_id)
    assert [action for _, action, _ in acts] == [
        "opened", "changed", "exported", "asked", "stopped", "resumed", "stopped", "deleted"
    ]  # fmt: skip
    assert {actor for actor, _, _ in acts} == {"admin"}
    assert {details["owner"] for _, _, details in acts} == {"local"}
    assert acts[1][2]["fields"] == ["pinned", "title"]
    assert acts[4][2]["turn_id"] == turn_id
    assert "secret" not in str(acts)


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
