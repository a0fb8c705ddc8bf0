"""When a session was last used: by whom, how often that is written down, and what it costs."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests.fakes import ScriptedModel
from tests.integration.people.people import accounts_of
from tests.integration.people.test_reviews import Scene
from tests.stack import Stack

OLD = "now() - interval '90 days'"


@pytest.fixture
def scene(stack: Stack, tmp_path: Path, model: ScriptedModel) -> Any:
    with accounts_of(stack, tmp_path, review="reason") as accounts:
        yield Scene(stack, accounts, model)


def forget(stack: Stack, session_id: str) -> None:
    """Let a session be unused for months."""
    values = f"updated_at = {OLD}, last_accessed_at = NULL"
    stack.query_and_commit(f"UPDATE conversations SET {values} WHERE id = '{session_id}'")


def noted(stack: Stack, session_id: str) -> Any:
    """Return what the row says: null, or when somebody read it."""
    query = f"SELECT last_accessed_at FROM conversations WHERE id = '{session_id}'"
    return stack.query(query)[0][0]


def test_reading_counts_whether_it_is_ones_own_or_shared(scene: Scene, stack: Stack) -> None:
    name, friend = scene.accounts.person()
    given = {"principal_type": "user", "principal_id": name, "right": "read"}
    scene.owner.put(f"{scene.path}/grants", json=given).raise_for_status()

    for reader in (scene.owner, friend):
        forget(stack, scene.session_id)
        before = scene.owner.get(scene.path).json()
        reader.get(f"{scene.path}/messages").raise_for_status()
        after = scene.owner.get(scene.path).json()

        assert before["last_accessed_at"] == before["updated_at"] == after["updated_at"]
        assert after["last_accessed_at"] > before["last_accessed_at"]


def test_neither_a_review_nor_a_page_by_itself_is_a_use(scene: Scene, stack: Stack) -> None:
    _, reviewer = scene.accounts.person("admin")
    scene.begin(reviewer).raise_for_status()
    forget(stack, scene.session_id)

    reviewer.get(f"{scene.path}/messages").raise_for_status()
    by_itself = {"Colloquy-Unattended": "true"}
    scene.owner.get(f"{scene.path}/messages", headers=by_itself).raise_for_status()
    scene.owner.get(scene.path).raise_for_status()

    assert noted(stack, scene.session_id) is None


def test_a_use_is_written_down_once_a_minute_and_beside_no_index(
    scene: Scene, stack: Stack
) -> None:
    forget(stack, scene.session_id)
    indexed = (
        "SELECT count(*) FROM pg_indexes WHERE tablename = 'conversations'"
        " AND indexdef LIKE '%last_accessed_at%'"
    )

    scene.owner.get(f"{scene.path}/messages").raise_for_status()
    first = noted(stack, scene.session_id)
    scene.owner.get(f"{scene.path}/messages").raise_for_status()

    assert first is not None
    assert noted(stack, scene.session_id) == first
    assert stack.query(indexed)[0][0] == 0


def test_reading_waits_for_nobody_who_changes_the_session(scene: Scene, stack: Stack) -> None:
    forget(stack, scene.session_id)
    engine = create_engine(stack.database_url)
    with engine.begin() as holding:
        holding.execute(
            text("SELECT FROM conversations WHERE id = CAST(:id AS uuid) FOR NO KEY UPDATE"),
            {"id": scene.session_id},
        )
        scene.owner.get(f"{scene.path}/messages").raise_for_status()
    engine.dispose()

    assert noted(stack, scene.session_id) is None
    scene.owner.get(f"{scene.path}/messages").raise_for_status()
    assert noted(stack, scene.session_id) is not None
