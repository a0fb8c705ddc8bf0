"""Retry: what was said and done before stays, and nothing is done twice."""

import pytest

from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_views,
    make_session,
    stop,
    texts,
    tool_domain,
    wait_for_event,
)
from tests.integration.turns.answers_to_stop import CALLS, STOP_SECONDS
from tests.stack import Stack


def test_retry_of_a_stopped_turn_answers_the_same_message(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "word " * 400, "delay": 0.05}]
    turn = stack.submit("Tell me.")
    session_id = turn["session_id"]
    wait_for_event(stack, session_id, "text_delta")
    stop(stack, turn["turn_id"])
    stack.finished(turn["turn_id"], STOP_SECONDS)
    seen = stack.messages(session_id)
    model.steps = [{"text": "The whole answer."}]

    answer = stack.client.post(f"/turns/{turn['turn_id']}/retry")

    assert answer.status_code == 202
    again = stack.finished(answer.json()["id"])
    assert again["status"] == "succeeded"
    assert again["id"] != turn["turn_id"]
    rows, _ = check_views(stack, session_id)
    assert rows[: len(seen)] == seen
    assert texts(rows, "user") == ["Tell me."]
    assert texts(rows, "assistant")[-1] == "The whole answer."
    sent = [m["content"] for m in model.messages[-1] if m["role"] != "system"]
    assert sent == ["Tell me."]


def test_retry_after_a_failed_step_runs_no_tool_again(stack: Stack, model: ScriptedModel) -> None:
    steps = [CALLS, {"status": 400, "text": "out of order"}]
    model.steps = steps
    with tool_domain(stack, lambda name, _: f"{name} is done", "one", "two") as (domain, server):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit("Do it.", session_id)
        failed = stack.finished(turn["turn_id"])
        seen = stack.messages(session_id)
        steps[1] = {"text": "Both are done."}

        again = stack.client.post(f"/turns/{turn['turn_id']}/retry").json()

        assert failed["status"] == "failed"
        assert stack.finished(again["id"])["status"] == "succeeded"
        assert len(server.calls) == 2
        rows, state = check_views(stack, session_id)
        assert rows[: len(seen)] == seen
        roles = ["user", "assistant", "tool", "tool", "assistant"]
        assert [message["role"] for message in state["messages"]] == roles


def test_retry_after_the_limit_of_steps_makes_further_ones(
    stack: Stack, model: ScriptedModel
) -> None:
    steps = [{"tools": [{"name": "one"}]}, {"tools": [{"name": "one", "args": {"n": 2}}]}]
    model.steps = steps
    with tool_domain(stack, lambda *_: "done", "one", limits={"steps": 3}) as (domain, server):
        turn = stack.submit("Do it.", make_session(stack, domain["name"]))
        failed = stack.finished(turn["turn_id"])
        steps.append({"text": "All is done."})

        again = stack.client.post(f"/turns/{turn['turn_id']}/retry").json()

        assert failed["error"]["detail"].startswith("The agent made 3 steps, its limit")
        ended = stack.finished(again["id"])
        assert (failed["steps"], ended["status"], ended["steps"]) == (3, "succeeded", 1)
        assert len(server.calls) == 1


def test_chat_says_that_its_turn_failed(stack: Stack) -> None:
    message = script({"status": 400, "text": "no"})

    answer = stack.client.post("/chat", json={"message": message})

    assert answer.status_code == 200
    assert answer.json()["status"] == "failed"
    assert answer.json()["response"] is None


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (r'{"a": "x\u0000y"}', {"a": "x\u2400y"}),
        (r'{"a": "\ud83d"}', {"a": "\ufffd"}),
        ('{"a": 123456789012345678901234567890}', {"a": "123456789012345678901234567890"}),
        ('{"a": 1e400, "\u202e": -0.0}', {"a": "Infinity", "\u202e": -0.0}),
    ],
    ids=["nul", "half a character", "a huge number", "infinity"],
)
def test_a_call_with_values_that_the_database_refuses(
    stack: Stack, arguments: str, shown: dict
) -> None:
    with tool_domain(stack, lambda name, _: "got \x00 it", "one") as (domain, server):
        session_id = make_session(stack, domain["name"])
        calls = {"tools": [{"name": "one", "args": arguments}]}

        turn = stack.submit(script(calls, {"text": "done \x00"}), session_id)

        assert stack.finished(turn["turn_id"])["status"] == "succeeded"
        assert stack.turn(turn["turn_id"])["attempts"] == 1
        assert len(server.calls) == 1
        rows, state = check_views(stack, session_id)
        assert rows[1]["content"]["arguments"] == shown
        assert state["messages"][1]["tool_calls"][0]["function"]["arguments"] == arguments
        assert stack.chat("go on", session_id)["status"] == "succeeded"
