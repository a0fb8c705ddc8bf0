"""A killed worker's turns go on elsewhere, soon and without a gap."""

import os
import signal
import time

import pytest
import redis

from backend.redis.connecting import REDIS_TIMEOUT_SECONDS
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.stack import Servers, Stack


def test_killed_workers_turn_goes_on_before_its_lease_is_over(
    patient_stack: Stack, model: ScriptedModel
) -> None:
    stack = patient_stack
    model.steps = lambda *_: ENDLESS if len(model.requests) == 1 else {"text": "done"}
    turn = stack.submit("hello")
    with stack.events(turn["session_id"]) as events:
        next(event for event in events if event["event"] == "text_delta")
    stack.start_worker()

    stack.kill_worker(0)

    assert stack.wait_for(lambda: stack.turn(turn["turn_id"])["attempts"] == 2, "nobody took over")
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"


def test_turns_are_accepted_and_run_while_redis_is_away(
    patient_stack: Stack, servers: Servers
) -> None:
    stack = patient_stack
    session_id = stack.chat(script({"text": "before"}))["session_id"]
    servers.newest_redis.stop()

    turn = stack.submit(script({"text": "meanwhile"}), session_id)

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    servers.newest_redis.start()
    assert stack.chat(script({"text": "after"}), session_id)["response"] == "after"


@pytest.mark.chaos
def test_nobody_who_sends_a_message_waits_for_a_redis_that_hangs(
    patient_stack: Stack, servers: Servers
) -> None:
    stack = patient_stack
    session_ids = [stack.chat(script({"text": "before"}))["session_id"] for _ in range(3)]
    process = servers.newest_redis.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        turns = [stack.submit(script({"text": "meanwhile"}), id) for id in session_ids]
        taken = time.monotonic() - begun
        ended = [stack.finished(turn["turn_id"])["status"] for turn in turns]
    finally:
        os.kill(process.pid, signal.SIGCONT)

    assert taken < REDIS_TIMEOUT_SECONDS
    assert ended == ["succeeded"] * 3
    assert stack.chat(script({"text": "after"}), session_ids[0])["response"] == "after"


@pytest.mark.chaos
def test_turns_are_accepted_and_run_while_redis_has_no_memory_left(
    patient_stack: Stack, servers: Servers
) -> None:
    stack = patient_stack
    session_id = stack.chat(script({"text": "before"}))["session_id"]
    with redis.Redis.from_url(stack.redis_url) as client:
        client.config_set("maxmemory", 1)

        turn = stack.submit(script({"text": "meanwhile"}), session_id)

        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        client.config_set("maxmemory", 0)
    assert stack.chat(script({"text": "after"}), session_id)["response"] == "after"
