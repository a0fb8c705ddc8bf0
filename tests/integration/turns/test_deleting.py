"""A session that is deleted while its turn runs is gone, and hinders nobody."""

import time

import pytest
import redis

from tests.fakes import ScriptedModel, script
from tests.integration.scenes import Gate, check_problem, make_session, tool_domain, wait_for_event
from tests.integration.turns.answers_to_stop import CALLS, STOP_SECONDS
from tests.integration.turns.test_stopping import LONG
from tests.stack import Stack


@pytest.mark.parametrize("phase", ["streaming", "tool", "queued"])
def test_deleted_while_running_stays_deleted(
    stack: Stack, model: ScriptedModel, phase: str
) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "one", "two") as (domain, server):
        session_id = make_session(stack, domain["name"])
        said = script(CALLS, {"text": "never"}) if phase == "tool" else LONG
        turn = stack.submit(said, session_id)
        waiting = stack.submit("after that", session_id)
        if phase == "tool":
            stack.wait_for(lambda: len(server.calls) == 2, "the tools are not called")
        elif phase == "streaming":
            wait_for_event(stack, session_id, "text_delta")

        deleted = stack.client.delete(f"/sessions/{session_id}")

        assert deleted.status_code == 204
        gate.is_open = True
        stack.wait_for(lambda: model.open_streams == 0, "the model goes on talking", STOP_SECONDS)
        time.sleep(0.5)
        check_problem(stack.client.get(f"/sessions/{session_id}"), 404)
        check_problem(stack.client.delete(f"/sessions/{session_id}"), 404)
        for one in (turn, waiting):
            check_problem(stack.client.get(f"/turns/{one['turn_id']}"), 404)
        for table in ("turns", "display_messages", "agent_state_snapshots", "agent_state_deltas"):
            count = f"SELECT count(*) FROM {table} WHERE conversation_id = :id"
            assert stack.query(count, id=session_id)[0][0] == 0


def test_a_viewer_of_a_deleted_session_does_not_hinder_others(stack: Stack) -> None:
    session_id = stack.chat("hello")["session_id"]
    with stack.events(session_id):
        stack.client.delete(f"/sessions/{session_id}")

        assert stack.chat("others go on")["status"] == "succeeded"


def test_what_a_worker_still_tells_of_a_deleted_session_is_kept_nowhere(
    stack: Stack, model: ScriptedModel
) -> None:
    turn = stack.submit(script({"text": "word " * 400, "delay": 0.02}))
    session_id = turn["session_id"]
    with stack.events(session_id) as events:
        next(event for event in events if event["event"] == "text_delta")

    stack.client.delete(f"/sessions/{session_id}")
    stack.wait_for(lambda: not model.open_streams, "the model goes on talking")

    with redis.Redis.from_url(stack.redis_url) as client:
        assert not client.exists(f"colloquy:events:{session_id}")
