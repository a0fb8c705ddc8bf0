"""What anybody is told of a turn's true state: stopping, waiting, silent, lost, resumed."""

import re
from collections.abc import Iterator

from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.scenes import stop, wait_for_event
from tests.integration.turns.answers_to_stop import LONG
from tests.stack import Stack


def test_running_turn_tells_its_workers_last_sign_of_life(stack: Stack) -> None:
    turn = stack.submit(LONG)
    wait_for_event(stack, turn["session_id"], "text_delta")

    running = stack.turn(turn["turn_id"])
    listed = stack.client.get(f"/sessions/{turn['session_id']}/turns").json()["items"][0]
    work = next(
        one for one in stack.client.get("/work").json()["turns"] if one["id"] == running["id"]
    )

    for told in (running, listed, work):
        assert 0 <= told["heartbeat_seconds"] < told["heartbeat_seconds"] + told["lease_seconds"]
        assert (told["stop_requested"], told["losses"], told["model_wait"]) == (False, 0, None)
    stop(stack, turn["turn_id"])
    ended = stack.finished(turn["turn_id"])
    assert ended["heartbeat_seconds"] is ended["lease_seconds"] is None


def test_stopping_is_told_to_all_who_follow(stack: Stack) -> None:
    turn = stack.submit(LONG)
    with stack.events(turn["session_id"]) as events:
        next(event for event in events if event["event"] == "text_delta")

        answer = stop(stack, turn["turn_id"])

        told = [event for event in events_until_end(events) if event["event"] == "progress"]
    assert (answer["status"], answer["stop_requested"]) == ("running", True)
    assert [event["data"]["state"] for event in told] == ["stopping"]
    assert stack.turn(turn["turn_id"])["stop_requested"]


def test_waiting_for_the_models_provider_is_told_with_its_reason(
    stack: Stack, model: ScriptedModel
) -> None:
    busy = {"status": 429, "headers": {"Retry-After": "2"}}
    model.steps = lambda messages, body: {"text": "here"} if len(model.requests) > 1 else busy
    turn = stack.submit("Tell me")

    waiting = stack.wait_for(
        lambda: stack.turn(turn["turn_id"])["model_wait"], "it does not wait for its model"
    )

    assert 0 < waiting["seconds"] < 3
    assert waiting["reason"]
    ended = stack.finished(turn["turn_id"])
    assert (ended["status"], ended["model_retries"], ended["model_wait"]) == ("succeeded", 1, None)


def test_lost_worker_is_told_with_the_seconds_that_it_cost(
    patient_stack: Stack, model: ScriptedModel
) -> None:
    stack = patient_stack
    model.steps = lambda *_: ENDLESS if len(model.requests) == 1 else {"text": "done"}
    turn = stack.submit("hello")
    wait_for_event(stack, turn["session_id"], "text_delta")
    stack.start_worker()

    stack.kill_worker(0)

    ended = stack.finished(turn["turn_id"])
    assert (ended["status"], ended["losses"], ended["attempts"]) == ("succeeded", 1, 2)
    (notice,) = [m for m in stack.messages(turn["session_id"]) if m["content_type"] == "notice"]
    told = re.fullmatch(
        r"Worker lost at step 1, resumed after ([\d.]+) s\.", notice["content"]["text"]
    )
    assert told
    (row,) = stack.query("SELECT lost_seconds FROM turns WHERE id = :id", id=turn["turn_id"])
    assert abs(row.lost_seconds - float(told[1])) < 0.6


def events_until_end(events: Iterator[JSON]) -> list[JSON]:
    told = []
    for event in events:
        told.append(event)
        if event["event"] == "turn_finished":
            break
    return told
