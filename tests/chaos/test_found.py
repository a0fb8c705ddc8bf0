"""Bugs that runs under faults have found, each as a story of its own."""

import socket
from pathlib import Path

import httpx
import pytest
import redis
from sqlalchemy import text

from backend.redis.connecting import connect_redis
from backend.types import JSON
from db.session import Database
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, texts
from tests.processes import free_port
from tests.stack import Servers, Stack, read_events


@pytest.mark.chaos
def test_a_turn_tried_again_waits_behind_one_that_runs(stack: Stack) -> None:
    running = stack.submit(script({"text": "word " * 40, "delay": 0.05}))
    session_id = running["session_id"]
    waiting = stack.submit("after you", session_id)
    stack.client.post(f"/turns/{waiting['turn_id']}/stop")

    again = stack.client.post(f"/turns/{waiting['turn_id']}/retry").json()

    assert (again["status"], again["queue_position"]) == ("queued", 1)
    assert stack.finished(running["turn_id"])["status"] == "succeeded"
    assert stack.finished(again["id"])["status"] == "succeeded"
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "user")[1:] == ["after you"]
    assert [row["message_type"] for row in rows] == ["user", "assistant"] * 2


@pytest.mark.parametrize("redis_forgets", [False, True])
@pytest.mark.chaos
def test_who_was_told_the_end_is_not_told_again(stack: Stack, redis_forgets: bool) -> None:
    session_id = stack.chat("hello")["session_id"]
    told = _events(stack, session_id, after="0")
    if redis_forgets:
        with redis.Redis.from_url(stack.redis_url) as client:
            client.delete(f"colloquy:events:{session_id}")

    again = _events(stack, session_id, after=told[-1]["id"])

    assert [event["event"] for event in told][-1] == "turn_finished"
    assert again == []


@pytest.mark.chaos
def test_an_end_that_nobody_published_is_told_all_the_same(stack: Stack) -> None:
    session_id = stack.chat("hello")["session_id"]
    told = _events(stack, session_id, after="0")
    before_the_end = told[-2]["id"]
    with redis.Redis.from_url(stack.redis_url) as client:
        client.delete(f"colloquy:events:{session_id}")

    rest = _events(stack, session_id, after=before_the_end)

    assert [event["event"] for event in rest] == ["turn_finished"]
    assert _events(stack, session_id, after=rest[-1]["id"]) == []


@pytest.mark.chaos
def test_an_end_told_from_the_table_is_not_told_again_by_redis(stack: Stack) -> None:
    session_id = stack.chat("hello")["session_id"]
    stream = f"colloquy:events:{session_id}"
    told = _events(stack, session_id, after="0")
    with redis.Redis.from_url(stack.redis_url) as client:
        client.rename(stream, "out of sight")
        from_table = _events(stack, session_id, after=told[-2]["id"])
        client.rename("out of sight", stream)

    rest = _events(stack, session_id, after=from_table[-1]["id"])

    assert [event["event"] for event in from_table] == ["turn_finished"]
    assert rest == []


@pytest.mark.chaos
def test_parts_that_start_while_redis_is_away_run_turns(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    model.steps = ()
    stack = make_stack(servers, model, tmp_path)
    stack.environment["REDIS_URL"] = f"redis://127.0.0.1:{free_port()}/0"
    try:
        stack.start_api()
        worker = stack.start_worker()
        turn = stack.submit("hello")

        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        assert worker.poll() is None
    finally:
        stack.__exit__()


def _events(stack: Stack, session_id: str, after: str) -> list[JSON]:
    """What a follower is told within a moment."""
    told: list[JSON] = []
    url = f"/sessions/{session_id}/events"
    moment = httpx.Timeout(5, read=1.0)
    try:
        with stack.client.stream("GET", url, params={"after": after}, timeout=moment) as answer:
            for event in read_events(answer.iter_lines()):
                told.append(event)
    except httpx.ReadTimeout:
        pass
    return told


@pytest.mark.chaos
def test_a_worker_of_many_turns_has_connections_for_all_its_threads() -> None:
    client = connect_redis("redis://127.0.0.1:1", threads=200)

    assert client.connection_pool.max_connections >= 2 * 200


@pytest.mark.chaos
def test_a_redis_that_hangs_is_asked_once_not_again_and_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        client = connect_redis(f"redis://127.0.0.1:{hanging.getsockname()[1]}", threads=1)
        with pytest.raises(redis.TimeoutError):
            client.get("anything")
        hanging.accept()
        hanging.setblocking(False)
        with pytest.raises(BlockingIOError):
            hanging.accept()


@pytest.mark.chaos
def test_a_sweep_that_fails_is_not_the_last(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    model.steps = ()
    fired = tmp_path / "fired"
    fired.mkdir()
    armed = {
        "FAILPOINTS": "submit.after_commit=raise,sweep.found=raise",
        "FAILPOINTS_DIR": str(fired),
    }
    key = {"Idempotency-Key": "once", "Prefer": "respond-async"}

    with make_stack(servers, model, tmp_path, **armed) as stack:
        url = f"{stack.base_url}/api/v1/chat"  # on a connection of its own: a 500 ends it
        stranded = httpx.post(url, json={"message": "hello"}, headers=key, timeout=30)
        turn = stack.submit("hello", **key)

        assert stranded.status_code == 500
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert {file.name for file in fired.iterdir()} == {"submit.after_commit", "sweep.found"}


@pytest.mark.chaos
def test_followers_of_a_deleted_session_are_let_go(stack: Stack) -> None:
    session_id = stack.chat("hello")["session_id"]
    log_before = stack.log.stat().st_size

    with stack.events(session_id) as events:
        stack.client.delete(f"/sessions/{session_id}")
        rest = [event["event"] for event in events]

    assert rest == ["ended"]
    with stack.log.open() as log:
        log.seek(log_before)
        assert "Traceback" not in log.read()


@pytest.mark.chaos
def test_a_process_that_froze_within_a_transaction_loses_its_locks(servers: Servers) -> None:
    database = Database(servers.new_database())
    shown = text("SHOW idle_in_transaction_session_timeout")

    with database.read() as session:
        assert session.scalar(shown) == "10s"
    database.close()


@pytest.mark.chaos
def test_a_turn_whose_job_a_killed_worker_had_just_taken_is_announced_again(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    model.steps = ()
    with make_stack(servers, model, tmp_path) as stack:
        stack.kill_workers()
        turn = stack.submit("hello")
        with redis.Redis.from_url(stack.redis_url) as client:
            queue = "rq:queue:turns"
            stack.wait_for(lambda: client.llen(queue) == 1, "the turn is not announced")
            # Where RQ keeps a job for the moment between its queue and its worker.
            taken = client.lmove(queue, f"{queue}:intermediate")
            assert taken == turn["turn_id"].encode()

        stack.start_worker()

        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
