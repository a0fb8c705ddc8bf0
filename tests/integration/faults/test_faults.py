"""Killed workers, a Redis that forgets, an API that restarts: turns go on, nothing is doubled."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
import redis

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    Gate,
    check_problem,
    check_views,
    make_session,
    stop,
    texts,
    tool_domain,
    wait_for_event,
)
from tests.stack import Servers, Stack

RECOVERY_SECONDS = 30
WORDS = "word " * 60


@pytest.fixture(scope="module")
def hurt_stack(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("hurt")
    short = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}
    with make_stack(servers, model, home, **short) as running:
        yield running


@pytest.fixture
def fragile(hurt_stack: Stack, model: ScriptedModel) -> Iterator[Stack]:
    """A stack with one worker and short leases; each test may kill what it likes."""
    model.clear()
    model.steps = ()
    yield hurt_stack
    if not hurt_stack.workers:
        hurt_stack.start_worker()
    for session in hurt_stack.client.get("/sessions", params={"limit": 200}).json()["items"]:
        hurt_stack.client.delete(f"/sessions/{session['id']}")


def flush(stack: Stack) -> None:
    with closing(redis.Redis.from_url(stack.redis_url)) as client:
        client.flushall()


def lose_worker(stack: Stack) -> None:
    """SIGKILL the worker; another one takes over."""
    stack.kill_workers()
    stack.start_worker()


def test_killed_while_a_model_streams(fragile: Stack) -> None:
    turn = fragile.submit(script({"text": WORDS, "delay": 0.05}))
    wait_for_event(fragile, turn["session_id"], "text_delta")

    lose_worker(fragile)

    ended = fragile.finished(turn["turn_id"], RECOVERY_SECONDS)
    assert (ended["status"], ended["attempts"], ended["steps"]) == ("succeeded", 2, 1)
    rows, state = check_views(fragile, turn["session_id"])
    assert texts(rows, "assistant") == [WORDS]
    assert [message["role"] for message in state["messages"]] == ["user", "assistant"]
    assert fragile.chat("go on", turn["session_id"])["status"] == "succeeded"


@pytest.mark.chaos
def test_a_turn_that_ends_after_redis_has_forgotten_it_is_no_failure_in_the_log(
    fragile: Stack,
) -> None:
    logged = len(fragile.log.read_text())
    turn = fragile.submit(script({"text": WORDS, "delay": 0.05}))
    wait_for_event(fragile, turn["session_id"], "text_delta")

    flush(fragile)

    assert fragile.finished(turn["turn_id"], RECOVERY_SECONDS)["status"] == "succeeded"
    fragile.restart_worker()  # politely: what the first one had to say is in its log
    assert "Traceback" not in fragile.log.read_text()[logged:]


def test_killed_while_tools_run_keeps_the_steps_before(fragile: Stack) -> None:
    gate = Gate()

    async def answer(name: str, arguments: JSON) -> str:
        return "done at once" if name == "quick" else await gate.answer(name, arguments)

    steps = ({"tools": [{"name": "quick"}]}, {"tools": [{"name": "slow"}]}, {"text": "All done."})
    with tool_domain(fragile, answer, "quick", "slow") as (domain, server):
        session_id = make_session(fragile, domain["name"])
        turn = fragile.submit(script(*steps), session_id)
        fragile.wait_for(lambda: len(server.calls) == 2, "the slow tool is not called")
        before = fragile.messages(session_id)

        lose_worker(fragile)
        gate.is_open = True

        ended = fragile.finished(turn["turn_id"], RECOVERY_SECONDS)
        assert (ended["status"], ended["attempts"]) == ("succeeded", 2)
        rows, state = check_views(fragile, session_id)
        frozen = [(row["id"], row["content"]) for row in rows]
        assert frozen[: len(before)] == [(row["id"], row["content"]) for row in before]
        assert [name for name, _ in server.calls].count("quick") == 1
        results = [row for row in rows if row["content_type"] == "tool_result"]
        assert len(results) == 2
        calls = [row for row in rows if row["content_type"] == "tool_call"]
        assert all(row["status"] in ("completed", "failed") for row in calls)
        assert texts(rows, "assistant") == ["All done."]
        assert len(state["messages"]) == 6


@pytest.mark.chaos
def test_lost_three_times_is_given_up_and_can_be_retried(fragile: Stack) -> None:
    session_id = make_session(fragile)
    turn = fragile.submit(script({"text": "late", "wait": 60}), session_id)
    for attempt in (1, 2, 3):
        fragile.wait_for(
            lambda attempt=attempt: fragile.turn(turn["turn_id"])["attempts"] >= attempt,
            f"attempt {attempt} does not begin",
        )
        lose_worker(fragile)

    ended = fragile.finished(turn["turn_id"], RECOVERY_SECONDS)

    assert (ended["status"], ended["attempts"]) == ("failed", 3)
    assert "lost" in ended["error"]["detail"]
    rows, _ = check_views(fragile, session_id)
    kinds = [row["content_type"] for row in rows if row["content_type"] != "notice"]
    assert kinds == ["text", "error"]
    again = fragile.client.post(f"/turns/{turn['turn_id']}/retry").json()
    stop(fragile, again["id"])
    assert fragile.finished(again["id"])["status"] == "stopped"
    assert fragile.chat("go on", session_id)["status"] == "succeeded"


def test_a_worker_back_from_the_dead_writes_nothing(fragile: Stack, model: ScriptedModel) -> None:
    turn = fragile.submit(script({"text": WORDS, "delay": 0.05}))
    wait_for_event(fragile, turn["session_id"], "text_delta")
    frozen = fragile.workers[0]
    os.killpg(frozen.pid, signal.SIGSTOP)
    fragile.start_worker()

    ended = fragile.finished(turn["turn_id"], RECOVERY_SECONDS)
    rows = fragile.messages(turn["session_id"])
    os.killpg(frozen.pid, signal.SIGCONT)
    fragile.wait_for(lambda: model.open_streams == 0, "the old worker goes on")
    time.sleep(1)

    assert (ended["status"], ended["attempts"]) == ("succeeded", 2)
    assert texts(rows, "assistant") == [WORDS]
    assert check_views(fragile, turn["session_id"])[0] == rows
    assert fragile.turn(turn["turn_id"]) == ended
    fragile.workers.remove(frozen)
    os.killpg(frozen.pid, signal.SIGKILL)
    frozen.wait()


def test_a_worker_told_to_end_finishes_or_hands_over(fragile: Stack) -> None:
    turns = [fragile.submit(script({"text": WORDS, "delay": 0.03})) for _ in range(3)]
    for turn in turns:
        wait_for_event(fragile, turn["session_id"], "text_delta")
    old = fragile.workers.pop()

    old.terminate()
    fragile.start_worker()

    assert old.wait(timeout=20) == 0
    for turn in turns:
        assert fragile.finished(turn["turn_id"], RECOVERY_SECONDS)["status"] == "succeeded"
        rows, _ = check_views(fragile, turn["session_id"])
        assert texts(rows, "assistant") == [WORDS]


def test_stop_of_a_turn_whose_worker_is_lost(fragile: Stack) -> None:
    turn = fragile.submit(script({"text": WORDS, "delay": 0.1}))
    wait_for_event(fragile, turn["session_id"], "text_delta")
    fragile.kill_workers()

    stop(fragile, turn["turn_id"])
    fragile.start_worker()

    assert fragile.finished(turn["turn_id"], RECOVERY_SECONDS)["status"] == "stopped"
    check_views(fragile, turn["session_id"])
    assert fragile.chat("go on", turn["session_id"])["status"] == "succeeded"


def test_redis_forgetting_everything_loses_no_turn(fragile: Stack) -> None:
    sessions = [make_session(fragile) for _ in range(12)]
    turns = []
    for number in range(3):
        for session_id in sessions:
            said = script({"text": f"answer {number} " * 8, "delay": 0.02})
            turns.append(fragile.submit(said, session_id)["turn_id"])
        flush(fragile)

    for _ in range(4):
        time.sleep(0.3)
        flush(fragile)

    for turn_id in turns:
        assert fragile.finished(turn_id, 60)["status"] == "succeeded"
    for session_id in sessions:
        rows, _ = check_views(fragile, session_id)
        assert texts(rows, "assistant") == [f"answer {number} " * 8 for number in range(3)]


def test_turns_accepted_without_a_worker_run_when_one_comes(fragile: Stack) -> None:
    fragile.kill_workers()
    turns = [fragile.submit(f"message {number}") for number in range(3)]
    assert {fragile.turn(turn["turn_id"])["status"] for turn in turns} == {"queued"}

    flush(fragile)
    fragile.start_worker()

    for turn in turns:
        assert fragile.finished(turn["turn_id"], RECOVERY_SECONDS)["status"] == "succeeded"


def test_readiness_tells_that_no_worker_lives(fragile: Stack) -> None:
    fragile.kill_workers()
    flush(fragile)

    ready = fragile.client.get(f"{fragile.base_url}/readyz")
    alive = fragile.client.get(f"{fragile.base_url}/healthz")

    assert ready.status_code == 503
    assert ready.json()["database"] == ready.json()["redis"] == "ok"
    assert ready.json()["worker"] != "ok"
    assert alive.status_code == 200
    assert fragile.client.get("/server").json()["ready"] is False
    fragile.start_worker()
    fragile.wait_ready()


def test_an_api_that_restarts_while_a_turn_runs(fragile: Stack) -> None:
    turn = fragile.submit(script({"text": WORDS, "delay": 0.05}))
    with fragile.events(turn["session_id"]) as events:
        seen = [next(event for event in events if event["event"] == "text_delta")]
    assert fragile.api is not None
    os.killpg(fragile.api.pid, signal.SIGKILL)
    fragile.api.wait()

    fragile.start_api()

    last = {"Last-Event-ID": seen[0]["id"]}
    with fragile.events(turn["session_id"], **last) as events:
        for event in events:
            seen.append(event)
            if event["event"] == "turn_finished":
                break
    assert fragile.turn(turn["turn_id"])["attempts"] == 1
    spoken = [event["data"]["text"] for event in seen if event["event"] == "text_delta"]
    assert "".join(spoken) == WORDS
    assert texts(fragile.messages(turn["session_id"]), "assistant") == [WORDS]


def test_an_api_told_to_end_does_not_wait_for_viewers(fragile: Stack) -> None:
    session_id = make_session(fragile)
    assert fragile.api is not None
    with fragile.events(session_id) as events:
        turn = fragile.submit("hello", session_id)
        next(event for event in events if event["event"] == "turn_finished")

        fragile.api.terminate()

        assert fragile.api.wait(timeout=15) is not None
    fragile.start_api()
    assert fragile.turn(turn["turn_id"])["status"] == "succeeded"
    check_problem(fragile.client.get(f"/turns/{session_id}"), 404)
