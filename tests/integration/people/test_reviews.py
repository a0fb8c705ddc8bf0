"""Reviews: reading somebody else's session, with a reason, for a while, seen by its owner."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.export import session_table
from tests.fakes import ScriptedModel
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import check_problem
from tests.stack import Stack

WRITES = (
    ("PATCH", "", {"title": "theirs now"}),
    ("DELETE", "", None),
    ("POST", "/chat", {"message": "hello"}),
    ("POST", "/links", None),
    ("POST", "/continue", {}),
    ("POST", "/stop", None),
    ("POST", "/query", {"source": "fi", "sql": "SELECT 1"}),
)


class Scene:
    """A session of Ada's, in which something was asked, and who else there is."""

    def __init__(self, stack: Stack, accounts: Accounts, model: ScriptedModel) -> None:
        model.steps = [{"text": "the answer"}]
        self.word = f"w{uuid4().hex}"
        turn = stack.chat(f"What of {self.word}?")
        self.session_id, self.turn_id = turn["session_id"], turn["turn_id"]
        self.path = f"/sessions/{self.session_id}"
        self.accounts = accounts
        self.owner_id, self.owner = accounts.person()
        with accounts.database.transaction() as session:
            for table in ("conversations", "turns"):
                column = "id" if table == "conversations" else "conversation_id"
                session.execute(
                    text(
                        f"UPDATE {table} SET owner_id = :owner WHERE {column} = CAST(:id AS uuid)"
                    ),
                    {"owner": self.owner_id, "id": self.session_id},
                )

    def begin(self, reviewer: TestClient, reason: str = "a complaint") -> Any:
        return reviewer.post(f"{self.path}/reviews", json={"reason": reason})

    def listed(self, reviewer: TestClient, **wanted: Any) -> list[dict[str, Any]]:
        params = {"scope": "all", "owner": self.owner_id, **wanted}
        answer = reviewer.get("/sessions", params=params).raise_for_status()
        return [one for one in answer.json()["items"] if one["id"] == self.session_id]


@contextmanager
def scene_of(stack: Stack, folder: Path, model: ScriptedModel, review: str) -> Iterator[Scene]:
    with accounts_of(stack, folder, review=review) as accounts:
        yield Scene(stack, accounts, model)


@pytest.fixture
def scene(stack: Stack, tmp_path: Path, model: ScriptedModel) -> Iterator[Scene]:
    with scene_of(stack, tmp_path, model, "reason") as found:
        yield found


@pytest.mark.parametrize(
    ("review", "role", "status"),
    [
        ("off", "member", 404), ("off", "reviewer", 404), ("off", "admin", 404),
        ("reason", "member", 404), ("reason", "reviewer", 403), ("reason", "admin", 403),
        ("on", "member", 404), ("on", "reviewer", 200), ("on", "admin", 200),
    ],
)  # fmt: skip
def test_who_reads_the_session_of_another(
    stack: Stack, tmp_path: Path, model: ScriptedModel, review: str, role: str, status: int
) -> None:
    with scene_of(stack, tmp_path, model, review) as scene:
        _, other = scene.accounts.person(role)
        may_review = review != "off" and role != "member"

        answer = other.get(scene.path)
        listed = other.get("/sessions", params={"scope": "all"})
        below = other.get(f"{scene.path}/messages")
        begun = scene.begin(other)

        assert answer.status_code == status
        assert listed.status_code == (200 if may_review else 403)
        assert below.status_code == (200 if status == 200 else 404)
        assert begun.status_code == (201 if may_review else 403)
        assert other.get(scene.path).status_code == (200 if may_review else 404)
        assert scene.owner.get(scene.path).status_code == 200


def test_a_reason_opens_the_session_and_its_owner_sees_it(scene: Scene) -> None:
    name, reviewer = scene.accounts.person("reviewer")

    check_problem(scene.begin(reviewer, "  "), 422)
    review = scene.begin(reviewer).raise_for_status().json()
    again = scene.begin(reviewer).raise_for_status().json()
    reading = reviewer.get(scene.path).raise_for_status().json()
    reviewer.get(f"{scene.path}/messages").raise_for_status()
    seen = scene.owner.get(f"{scene.path}/reviews").raise_for_status().json()["items"]

    assert again == review
    assert seen == [review]
    assert (review["reviewer_name"], review["reason"]) == (name, "a complaint")
    assert reading["review_ends_at"] == review["ends_at"]
    mine = scene.owner.get(scene.path).json()
    assert (mine["review_count"], mine["review_ends_at"]) == (1, None)
    check_problem(reviewer.get(f"{scene.path}/reviews"), 404)
    admin = scene.accounts.first_admin()
    told = {"subject": "session", "subject_id": scene.session_id}
    (event,) = admin.get("/audit", params={**told, "action": "reviewed"}).json()["items"]
    assert (event["actor"], event["details"]["owner"]) == (name, scene.owner_id)


def test_without_need_of_a_reason_each_reading_is_still_seen(
    stack: Stack, tmp_path: Path, model: ScriptedModel
) -> None:
    with scene_of(stack, tmp_path, model, "on") as scene:
        name, reviewer = scene.accounts.person("reviewer")

        check_problem(reviewer.get(f"{scene.path}/messages"), 404)
        for _ in range(2):
            reviewer.get(f"{scene.path}/turns").raise_for_status()
            reviewer.get(scene.path).raise_for_status()
            reviewer.get(f"{scene.path}/messages").raise_for_status()

        (seen,) = scene.owner.get(f"{scene.path}/reviews").json()["items"]
        assert (seen["reviewer"], seen["reason"]) == (name, "")


def test_a_review_ends(scene: Scene) -> None:
    _, reviewer = scene.accounts.person("reviewer")
    scene.begin(reviewer).raise_for_status()

    with scene.accounts.database.transaction() as session:
        session.execute(
            text(
                "UPDATE reviews SET ends_at = clock_timestamp()"
                " WHERE conversation_id = CAST(:id AS uuid)"
            ),
            {"id": scene.session_id},
        )

    check_problem(reviewer.get(scene.path), 403)
    check_problem(reviewer.get(f"{scene.path}/messages"), 404)


@pytest.mark.parametrize("review", ["reason", "on"])
def test_a_reviewer_writes_nowhere(
    stack: Stack, tmp_path: Path, model: ScriptedModel, review: str
) -> None:
    with scene_of(stack, tmp_path, model, review) as scene:
        _, reviewer = scene.accounts.person("reviewer")
        _, stranger = scene.accounts.person()
        scene.begin(reviewer).raise_for_status()
        before = scene.owner.get(scene.path).json()

        for method, below, body in WRITES:
            paths = [f"{scene.path}{below}", f"/sessions/{uuid4()}{below}"]
            answers = [reviewer.request(method, path, json=body) for path in paths]
            answers.append(stranger.request(method, paths[0], json=body))
            assert {answer.status_code for answer in answers} == {404}, (method, below)
        for act in ("stop", "retry"):
            check_problem(reviewer.post(f"/turns/{scene.turn_id}/{act}"), 404)

        after = scene.owner.get(scene.path).json()
        assert after == before


def test_reviews_are_of_what_one_cannot_read_anyway(scene: Scene) -> None:
    team = scene.accounts.team()
    _, mate = scene.accounts.person("reviewer", [team])
    with scene.accounts.database.transaction() as session:
        session.execute(
            text("UPDATE conversations SET team = :team WHERE id = CAST(:id AS uuid)"),
            {"team": team, "id": scene.session_id},
        )

    check_problem(scene.begin(mate), 422)
    check_problem(mate.post(f"/sessions/{uuid4()}/reviews", json={"reason": "x"}), 404)
    assert mate.get(scene.path).json()["review_ends_at"] is None


def test_the_list_of_everyones_sessions_has_their_figures(scene: Scene) -> None:
    _, reviewer = scene.accounts.person("reviewer")
    with scene.accounts.database.transaction() as session:
        for user, rating in (("a", "up"), ("b", "down"), ("c", "down")):
            session.execute(
                text(
                    "INSERT INTO feedback (turn_id, user_id, conversation_id, rating) VALUES"
                    " (CAST(:turn AS uuid), :user, CAST(:id AS uuid), :rating)"
                ),
                {"turn": scene.turn_id, "user": user, "id": scene.session_id, "rating": rating},
            )

    (listed,) = scene.listed(reviewer)

    usage = scene.owner.get(f"/turns/{scene.turn_id}").json()["usage"]
    figures = listed["figures"]
    assert listed["owner_name"] == scene.owner_id
    assert figures["tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert (figures["errors"], figures["thumbs_up"], figures["thumbs_down"]) == (0, 1, 2)
    assert scene.listed(reviewer, has_thumbs_down=True) == [listed]
    assert scene.listed(reviewer, has_errors=True) == []
    assert scene.listed(reviewer, team="no such team") == []
    assert scene.listed(reviewer, until=listed["updated_at"]) == []
    assert scene.listed(reviewer, since=listed["updated_at"]) == [listed]
    found = scene.owner.get("/sessions").json()["items"]
    (own,) = (one for one in found if one["id"] == listed["id"])
    assert own["figures"] is None


def test_the_list_is_a_file_that_says_when_it_was_cut(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reviewer = scene.accounts.person("reviewer")
    _, member = scene.accounts.person()
    for _ in range(3):
        scene.owner.post("/sessions", json={"title": "=1+1"}).raise_for_status()
    wanted = {"owner": scene.owner_id}

    whole = reviewer.get("/sessions/csv", params=wanted).raise_for_status().text
    monkeypatch.setattr(session_table, "MOST_ROWS", 2)
    cut = reviewer.get("/sessions/csv", params=wanted).raise_for_status().text

    rows = list(csv.DictReader(io.StringIO(whole)))
    assert {row["owner"] for row in rows} == {scene.owner_id}
    assert len(rows) == 4
    assert [row["title"] for row in rows].count("'=1+1") == 3
    lines = list(csv.reader(io.StringIO(cut)))
    assert len(lines) == 4 and lines[-1] == [session_table.CUT]
    check_problem(member.get("/sessions/csv"), 403)


def test_text_of_a_session_that_is_not_open_is_found_but_not_shown(scene: Scene) -> None:
    _, reviewer = scene.accounts.person("reviewer")
    search = {"q": scene.word, "scope": "all"}

    (before,) = reviewer.get("/search", params=search).raise_for_status().json()["items"]
    scene.begin(reviewer).raise_for_status()
    (after,) = reviewer.get("/search", params=search).json()["items"]

    assert (before["session_id"], before["snippet"]) == (scene.session_id, [])
    assert scene.word in "".join(part["text"] for part in after["snippet"])
    check_problem(scene.accounts.person()[1].get("/search", params=search), 403)
