"""Retention deletes what is kept no longer, with all that belongs to it, and nothing else."""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Servers, Stack

TABLES = (
    "display_messages",
    "agent_state_snapshots",
    "agent_state_deltas",
    "turns",
    "tool_results",
    "approvals",
    "branches",
    "sent_contents",
)


@pytest.fixture
def quiet(stack: Stack) -> Iterator[Stack]:
    """A stack whose domains of this test go with it: retention looks at all sessions."""
    yield stack
    stack.query_and_commit("UPDATE domains SET template = template - 'retention_days'")


def age(stack: Stack, session_id: str, days: int) -> None:
    """Let a session be unused for so many days."""
    stack.query_and_commit(
        f"UPDATE conversations SET updated_at = now() - interval '{days} days'"
        f" WHERE id = '{session_id}'"
    )


def aged(stack: Stack, model: ScriptedModel, domain: JSON, days: int) -> str:
    """A session of this domain with an answer in it, unused for so many days."""
    model.steps = [{"tools": [{"name": "list_sources", "id": "a"}]}, {"text": "Here."}]
    session_id = make_session(stack, domain["name"])
    stack.chat("What is there?", session_id)
    age(stack, session_id, days)
    return session_id


def apply(stack: Stack, *, dry_run: bool = False) -> JSON:
    answer = stack.client.post("/retention", params={"dry_run": dry_run})
    assert answer.status_code == 200, answer.text
    return answer.json()


@contextmanager
def held_up(stack: Stack, session_id: str) -> Iterator[Future[JSON]]:
    """Begin a run of retention that gets no further than this session until the block ends."""
    waits = (
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND datname = current_database() AND query LIKE 'DELETE FROM conversations%'"
    )
    engine = create_engine(stack.database_url)
    with ThreadPoolExecutor(1) as pool, engine.begin() as holding:
        rows = text("SELECT FROM turns WHERE conversation_id = :id FOR UPDATE")
        holding.execute(rows, {"id": session_id})
        outcome = pool.submit(apply, stack)
        stack.wait_for(lambda: stack.query(waits), "it does not wait")
        yield outcome
    engine.dispose()


def exists(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 200


def test_a_domains_old_sessions_go_with_all_that_belongs_to_them(
    quiet: Stack, model: ScriptedModel
) -> None:
    domain = make_domain(quiet, retention_days=30)
    old, young = aged(quiet, model, domain, 31), aged(quiet, model, domain, 29)
    other = aged(quiet, model, make_domain(quiet), 400)

    dry = apply(quiet, dry_run=True)
    outcome = apply(quiet)

    assert dry == {"planned": 1, "deleted": 0}
    assert outcome == {"planned": 1, "deleted": 1}
    assert [exists(quiet, one) for one in (old, young, other)] == [False, True, True]
    for table in TABLES:
        left = quiet.query(f"SELECT count(*) FROM {table} WHERE conversation_id = '{old}'")
        assert left[0][0] == 0, table
    (event,) = quiet.query(
        "SELECT actor, action, details FROM audit_events WHERE subject_id = :id", id=old
    )
    (run,) = quiet.query("SELECT max(id) AS id FROM audit_events WHERE action = 'applied'")
    about = {"reason": "age", "owner": "local", "domain": domain["name"], "run": run.id}
    assert (event.actor, event.action) == ("local", "deleted")
    assert event.details == about


def test_what_somebody_still_reads_stays(quiet: Stack, model: ScriptedModel) -> None:
    domain = make_domain(quiet, retention_days=30)
    read, unread = (aged(quiet, model, domain, 31) for _ in range(2))
    quiet.messages(read)

    apply(quiet)

    assert [exists(quiet, one) for one in (read, unread)] == [True, False]


def test_what_goes_next_is_shown_before_it_goes(quiet: Stack, model: ScriptedModel) -> None:
    old = aged(quiet, model, make_domain(quiet, retention_days=7), 8)

    seen = quiet.client.get("/retention").json()

    assert seen["planned"] == 1
    assert [(one["id"], one["reason"]) for one in seen["first"]] == [(old, "age")]
    assert exists(quiet, old)
    apply(quiet)
    runs = quiet.client.get("/retention").json()["runs"]
    assert runs[0] | {"at": None} == {"at": None, "actor": "local", "planned": 1, "deleted": 1}


def test_a_session_at_work_stays(quiet: Stack, model: ScriptedModel) -> None:
    domain = make_domain(quiet, retention_days=1)
    model.steps = [ENDLESS]
    session_id = make_session(quiet, domain["name"])
    turn = quiet.submit("Tell me.", session_id)
    age(quiet, session_id, 3)

    outcome = apply(quiet)

    assert outcome == {"planned": 0, "deleted": 0}
    quiet.client.post(f"/turns/{turn['turn_id']}/stop")
    quiet.finished(turn["turn_id"])


def test_a_session_pinned_after_the_plan_was_made_stays(quiet: Stack, model: ScriptedModel) -> None:
    domain = make_domain(quiet, retention_days=30)
    oldest, pinned = aged(quiet, model, domain, 32), aged(quiet, model, domain, 31)

    with held_up(quiet, oldest) as run:
        quiet.client.patch(f"/sessions/{pinned}", json={"pinned": True}).raise_for_status()

    assert run.result() == {"planned": 2, "deleted": 1}
    assert [exists(quiet, one) for one in (oldest, pinned)] == [False, True]
    assert "version" not in quiet.client.get("/retention").json()["first"][0]


@pytest.mark.parametrize("days", [-1, "soon"])
def test_days_that_are_none_are_refused(stack: Stack, days: object) -> None:
    body = {"name": f"domain-{uuid4().hex[:8]}", "retention_days": days}

    check_problem(stack.client.post("/domains", json=body), 422)


def test_the_oldest_beyond_a_persons_number_go_and_pinned_ones_last(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, RETENTION_SESSIONS="2") as stack:
        sessions = [make_session(stack) for _ in range(4)]
        for days, session_id in enumerate(reversed(sessions), 1):
            age(stack, session_id, days)
        stack.client.patch(f"/sessions/{sessions[0]}", json={"pinned": True})

        outcome = apply(stack)

        assert outcome == {"planned": 2, "deleted": 2}
        assert [exists(stack, one) for one in sessions] == [True, False, False, True]


def test_sessions_that_leave_by_age_take_no_place_of_others(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, RETENTION_SESSIONS="2") as stack:
        short = make_domain(stack, retention_days=5)["name"]
        expired, older, young = make_session(stack, short), make_session(stack), make_session(stack)
        for session_id, days in ((expired, 10), (older, 20), (young, 1)):
            age(stack, session_id, days)
        stack.client.patch(f"/sessions/{expired}", json={"pinned": True})

        outcome = apply(stack)

        assert outcome == {"planned": 1, "deleted": 1}
        assert [exists(stack, one) for one in (expired, older, young)] == [False, True, True]


def test_what_models_were_sent_takes_room(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    prompt = token_hex(200_000)
    with make_stack(servers, model, tmp_path, RETENTION_MEGABYTES="1") as stack:
        model.steps = [{"text": "Understood."}]
        domain = make_domain(stack, system_prompt=prompt)["name"]
        sessions = [make_session(stack, domain) for _ in range(4)]
        for days, session_id in enumerate(reversed(sessions), 1):
            stack.chat("Hello.", session_id)
            age(stack, session_id, days)

        outcome = apply(stack)

        left = [exists(stack, one) for one in sessions]
        assert left == [False] * outcome["deleted"] + [True] * (4 - outcome["deleted"])
        assert 0 < outcome["deleted"] < 4


def test_sessions_that_leave_by_age_take_no_room_of_others(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, RETENTION_MEGABYTES="1") as stack:
        model.steps = [{"text": "Understood."}]
        expired = make_session(stack, make_domain(stack, retention_days=5)["name"])
        older = make_session(stack)
        for session_id, days in ((expired, 10), (older, 20)):
            stack.chat(token_hex(200_000), session_id)
            age(stack, session_id, days)

        outcome = apply(stack)

        assert outcome == {"planned": 1, "deleted": 1}
        assert [exists(stack, one) for one in (expired, older)] == [False, True]


def test_the_oldest_go_when_there_is_no_room(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, RETENTION_MEGABYTES="1") as stack:
        model.steps = [{"text": "Understood."}]
        sessions = [make_session(stack) for _ in range(3)]
        for days, session_id in enumerate(reversed(sessions), 1):
            stack.chat(token_hex(200_000), session_id)
            age(stack, session_id, days)

        outcome = apply(stack)

        left = [exists(stack, one) for one in sessions]
        assert left == [False] * outcome["deleted"] + [True] * (3 - outcome["deleted"])
        assert 0 < outcome["deleted"] < 3


def test_workers_apply_retention_by_themselves(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    often = {"RETENTION_DAYS": "10", "RETENTION_HOURS": "0.0003"}
    with make_stack(servers, model, tmp_path, **often) as stack:
        stack.start_worker()
        old, young = make_session(stack), make_session(stack)
        age(stack, old, 11)

        stack.wait_for(lambda: not exists(stack, old), "the old session is still there")

        assert exists(stack, young)
        (event,) = stack.query("SELECT actor FROM audit_events WHERE subject_id = :id", id=old)
        assert event.actor == "colloquy"


def test_a_run_counts_what_it_deleted_after_another_one_began(stack: Stack) -> None:
    events = (
        ("colloquy", "applied", "retention", {"planned": {"age": 2}}),
        ("colloquy", "deleted", "session", {"reason": "age"}),
        ("local", "applied", "retention", {"planned": {"age": 1}}),
        ("colloquy", "deleted", "session", {"reason": "age"}),
        ("local", "deleted", "session", {"reason": "age"}),
    )
    for actor, action, subject, details in events:
        stack.query_and_commit(
            "INSERT INTO audit_events (actor, action, subject, subject_id, details)"
            f" VALUES ('{actor}', '{action}', '{subject}', 'x', '{json.dumps(details)}')"
        )

    runs = stack.client.get("/retention").json()["runs"]

    assert [(run["actor"], run["deleted"]) for run in runs[:2]] == [("local", 1), ("colloquy", 2)]


def test_runs_at_the_same_time_count_each_what_they_deleted(
    quiet: Stack, model: ScriptedModel
) -> None:
    old = aged(quiet, model, make_domain(quiet, retention_days=30), 31)

    with held_up(quiet, old) as first:
        second = apply(quiet)

    assert (first.result()["deleted"], second["deleted"]) == (1, 0)
    runs = quiet.client.get("/retention").json()["runs"]
    assert [(run["planned"], run["deleted"]) for run in runs[:2]] == [(1, 0), (1, 1)]


def test_a_session_deleted_by_hand_is_on_record_and_counts_for_no_run(stack: Stack) -> None:
    domain = make_domain(stack)
    session_id = make_session(stack, domain["name"])
    apply(stack)

    stack.client.delete(f"/sessions/{session_id}").raise_for_status()

    (event,) = stack.query(
        "SELECT actor, action, details FROM audit_events WHERE subject_id = :id", id=session_id
    )
    assert (event.actor, event.action) == ("local", "deleted")
    assert event.details == {"owner": "local", "domain": domain["name"]}
    assert stack.client.get("/retention").json()["runs"][0]["deleted"] == 0
