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


def test_a_session_to_be_deleted_is_in_no_list_and_can_be_kept(stack: Stack) -> None:
    session_id = stack.chat("A word about hollyhocks")["session_id"]

    leaving = stack.client.delete(f"/sessions/{session_id}", params={"after_seconds": 3600})

    assert (leaving.status_code, leaving.json()["id"]) == (202, session_id)
    assert leaving.json()["deletes_at"] is not None
    assert not listed(stack, session_id)
    assert not stack.client.get("/search", params={"q": "hollyhocks"}).json()["items"]
    assert stack.client.get(f"/sessions/{session_id}").json() == leaving.json()

    kept = stack.client.post(f"/sessions/{session_id}/undelete")
    again = stack.client.post(f"/sessions/{session_id}/undelete")

    assert (kept.status_code, kept.json()["deletes_at"]) == (200, None)
    assert again.json() == kept.json()
    assert listed(stack, session_id)
    assert stack.client.get("/search", params={"q": "hollyhocks"}).json()["items"]


def test_a_session_is_deleted_when_its_time_has_come(stack: Stack) -> None:
    session_id = stack.chat("Farewell")["session_id"]

    stack.client.delete(f"/sessions/{session_id}", params={"after_seconds": 1})
    stack.wait_for(lambda: is_gone(stack, session_id), "it can still be read")

    check_problem(stack.client.post(f"/sessions/{session_id}/undelete"), 404)
    count = "SELECT count(*) FROM conversations WHERE id = :id"
    stack.wait_for(lambda: stack.query(count, id=session_id) == [(0,)], "its row is still there")


@pytest.mark.parametrize("seconds", [-1, 86_401, "soon"])
def test_a_time_that_no_deletion_can_have_is_refused(stack: Stack, seconds: object) -> None:
    session_id = stack.chat("Stay")["session_id"]

    answer = stack.client.delete(f"/sessions/{session_id}", params={"after_seconds": seconds})

    check_problem(answer, 422)
    assert listed(stack, session_id)


def listed(stack: Stack, session_id: str) -> bool:
    page = stack.client.get("/sessions", params={"limit": 200}).json()
    return session_id in [one["id"] for one in page["items"]]


def is_gone(stack: Stack, session_id: str) -> bool:
    return stack.client.get(f"/sessions/{session_id}").status_code == 404
