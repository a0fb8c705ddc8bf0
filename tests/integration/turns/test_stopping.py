"""A stop is obeyed in every phase of a turn, and both views tell the same end."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

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
from tests.integration.turns.answers_to_stop import CALLS, STOP_SECONDS
from tests.stack import Stack

LONG = script({"text": "word " * 400, "delay": 0.05})


def test_stopped_while_queued_never_starts(stack: Stack, model: ScriptedModel) -> None:
    running = stack.submit(LONG)
    session_id = running["session_id"]
    waiting = stack.submit("never asked", session_id)

    stopped = stop(stack, waiting["turn_id"])
    stop(stack, running["turn_id"])

    assert stopped["status"] == "stopped"
    assert stopped["started_at"] is None
    assert stack.finished(running["turn_id"], STOP_SECONDS)["status"] == "stopped"
    assert stack.chat("go on", session_id)["status"] == "succeeded"
    assert "never asked" not in json.dumps(model.messages)
    check_views(stack, session_id)


def test_stopped_before_the_first_word(stack: Stack) -> None:
    turn = stack.submit(script({"text": "late", "wait": 30}))
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "does not start")

    stop(stack, turn["turn_id"])

    assert stack.finished(turn["turn_id"], STOP_SECONDS)["status"] == "stopped"
    rows, state = check_views(stack, turn["session_id"])
    assert texts(rows, "assistant") == []
    assert [message["role"] for message in state["messages"]] == ["user"]
    assert stack.chat("go on", turn["session_id"])["status"] == "succeeded"


def test_stopped_while_a_model_streams(stack: Stack, model: ScriptedModel) -> None:
    turn = stack.submit(LONG)
    wait_for_event(stack, turn["session_id"], "text_delta")

    stop(stack, turn["turn_id"])

    assert stack.finished(turn["turn_id"], STOP_SECONDS)["status"] == "stopped"
    rows, state = check_views(stack, turn["session_id"])
    partial = next(row for row in rows if row["message_type"] == "assistant")
    assert partial["status"] == "stopped"
    assert state["messages"][-1]["content"] == partial["content"]["text"]
    stack.wait_for(lambda: model.open_streams == 0, "the model goes on talking", STOP_SECONDS)
    assert stack.chat("go on", turn["session_id"])["status"] == "succeeded"
    assert model.messages[-1][-2]["content"] == partial["content"]["text"]


WORDS = {"text": "word " * 400, "delay": 0.05}
ARGUMENTS = {"name": "list_sources", "args": {"body": "word " * 400}}
PHASES = {
    "thinking": [{"think": "hm " * 400, "delay": 0.05}],
    "writing arguments": [{"text": "I call.", "tools": [ARGUMENTS], "delay": 0.05}],
    "waiting to ask again": [{"status": 429, "headers": {"Retry-After": "60"}}],
    "asked again": [{"text": "half an", "cut": True}, WORDS],
    "asked again, silent": [{"status": 503}, {"text": "late", "wait": 30}],
}

BEGINS = {"thinking": "thinking_delta", "writing arguments": "text_delta"}


@pytest.mark.parametrize("phase", PHASES)
def test_stopped_in_any_phase_of_an_answer(stack: Stack, model: ScriptedModel, phase: str) -> None:
    left = list(PHASES[phase])
    model.steps = lambda *_: left.pop(0) if left else {"text": "Now it works."}
    turn = stack.submit("Tell me.")
    session_id = turn["session_id"]
    wait_for_event(stack, session_id, BEGINS.get(phase, "progress"))
    stack.wait_for(lambda: not left, "the model is not asked again")
    time.sleep(0.3)

    stop(stack, turn["turn_id"])

    assert stack.finished(turn["turn_id"], STOP_SECONDS)["status"] == "stopped"
    stack.wait_for(lambda: model.open_streams == 0, "the model goes on talking", STOP_SECONDS)
    time.sleep(1)
    assert len(model.requests) == len(PHASES[phase])
    rows, state = check_views(stack, session_id)
    assert rows[-1]["content"] == {"text": "Stopped."}
    assert [row for row in rows if row["content_type"] == "tool_call"] == []
    said = "".join(texts(rows, "assistant"))
    assert said == "".join(m["content"] for m in state["messages"] if m["role"] == "assistant")
    assert "half an" not in said
    assert stack.chat("go on", session_id)["response"] == "Now it works."


def test_a_stop_against_the_end_gives_one_end_that_both_views_tell(stack: Stack) -> None:
    whole = "word " * 6

    def race(number: int) -> str:
        turn = stack.submit(script({"text": whole, "delay": 0.03}))
        time.sleep(number * 0.04)
        for _ in range(2):
            stop(stack, turn["turn_id"])
        ended = stack.finished(turn["turn_id"], STOP_SECONDS)
        rows, _ = check_views(stack, turn["session_id"])
        said = "".join(texts(rows, "assistant"))
        notices = [row["content"]["text"] for row in rows if row["content_type"] == "notice"]
        if ended["status"] == "succeeded":
            assert (said, notices) == (whole, [])
        else:
            assert (ended["status"], notices) == ("stopped", ["Stopped."])
            assert whole.startswith(said)
        assert stop(stack, turn["turn_id"])["status"] == ended["status"]
        return turn["session_id"]

    with ThreadPoolExecutor(4) as pool:
        for session_id in pool.map(race, range(16)):
            assert stack.chat("go on", session_id)["status"] == "succeeded"


def test_stopped_while_a_tool_runs_answers_its_call(stack: Stack) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "one", "two") as (domain, server):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script({"text": "Calling.", **CALLS}, {"text": "never"}), session_id)
        stack.wait_for(lambda: len(server.calls) == 2, "the tools are not called")

        stop(stack, turn["turn_id"])

        ended = stack.finished(turn["turn_id"], STOP_SECONDS)
        gate.is_open = True
        rows, state = check_views(stack, session_id)
        assert ended["status"] == "stopped"
        calls = [row for row in rows if row["content_type"] == "tool_call"]
        assert [row["status"] for row in calls] == ["stopped", "stopped"]
        results = [row["content"] for row in rows if row["content_type"] == "tool_result"]
        assert [result["tool_call_id"] for result in results] == ["a", "b"]
        assert all(result["is_error"] for result in results)
        assert [m["role"] for m in state["messages"]] == ["user", "assistant", "tool", "tool"]
        assert stack.chat("go on", session_id)["status"] == "succeeded"


def test_a_finished_call_of_a_stopped_batch_keeps_its_result(stack: Stack) -> None:
    gate = Gate()

    async def answer(name: str, arguments: dict) -> str:
        return "quick result" if name == "one" else await gate.answer(name, arguments)

    with tool_domain(stack, answer, "one", "two") as (domain, server):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script(CALLS, {"text": "never"}), session_id)
        stack.wait_for(lambda: len(server.ended_at) == 1, "the quick tool does not end")
        time.sleep(0.3)

        stop(stack, turn["turn_id"])

        stack.finished(turn["turn_id"], STOP_SECONDS)
        gate.is_open = True
        rows, state = check_views(stack, session_id)
        results = {
            row["content"]["tool_call_id"]: row["content"]
            for row in rows
            if row["content_type"] == "tool_result"
        }
        assert results["a"]["content"] == "quick result"
        assert not results["a"]["is_error"]
        assert results["b"]["is_error"]
        assert [m["tool_call_id"] for m in state["messages"][-2:]] == ["a", "b"]
        statuses = [row["status"] for row in rows if row["content_type"] == "tool_call"]
        assert statuses == ["completed", "stopped"]


def test_no_further_tool_starts_after_a_stop(stack: Stack) -> None:
    def answer(name: str, _: dict) -> str:
        return f"{name} is done"

    calls = [{"tools": [{"name": "one", "args": {"n": n}}]} for n in range(200)]
    with tool_domain(stack, answer, "one") as (domain, server):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script(*calls), session_id)
        stack.wait_for(lambda: len(server.calls) > 3, "the tools are not called")

        stop(stack, turn["turn_id"])

        assert stack.finished(turn["turn_id"], STOP_SECONDS)["status"] == "stopped"
        called = len(server.calls)
        time.sleep(0.5)
        assert len(server.calls) == called < 200
        rows, _ = check_views(stack, session_id)
        shown = [row for row in rows if row["content_type"] == "tool_call"]
        assert called <= len(shown) <= called + 1
        assert stack.chat("go on", session_id)["status"] == "succeeded"


def test_stopping_twice_and_after_the_end_changes_nothing(stack: Stack) -> None:
    turn = stack.submit(LONG)
    session_id = turn["session_id"]
    wait_for_event(stack, session_id, "text_delta")

    for _ in range(3):
        stop(stack, turn["turn_id"])
    ended = stack.finished(turn["turn_id"], STOP_SECONDS)
    rows = stack.messages(session_id)

    assert stop(stack, turn["turn_id"]) == ended
    assert stack.messages(session_id) == rows
    done = stack.chat("now an answer", session_id)
    assert stop(stack, done["turn_id"])["status"] == "succeeded"


def test_stopping_a_session_after_its_end_gives_the_latest_turn_as_it_is(stack: Stack) -> None:
    turn = stack.submit(LONG)
    session_id = turn["session_id"]
    wait_for_event(stack, session_id, "text_delta")
    url = f"/sessions/{session_id}/stop"

    assert stack.client.post(url).json()["id"] == turn["turn_id"]
    ended = stack.finished(turn["turn_id"], STOP_SECONDS)
    rows = stack.messages(session_id)
    again = [stack.client.post(url) for _ in range(2)]
    done = stack.chat("now an answer", session_id)
    after = stack.client.post(url)

    assert [(answer.status_code, answer.json()) for answer in again] == [(200, ended)] * 2
    assert stack.messages(session_id)[: len(rows)] == rows
    assert (after.status_code, after.json()) == (200, stack.turn(done["turn_id"]))


def test_nothing_to_stop_in_a_session_is_a_problem(stack: Stack) -> None:
    answer = stack.client.post(f"/sessions/{make_session(stack)}/stop")

    assert check_problem(answer, 404)["detail"] == "Nothing is running in this session."


def test_stop_of_a_session_lets_the_next_message_run(stack: Stack) -> None:
    first = stack.submit(LONG)
    second = stack.submit("the next one", first["session_id"])
    wait_for_event(stack, first["session_id"], "text_delta")

    stack.client.post(f"/sessions/{first['session_id']}/stop")

    assert stack.finished(first["turn_id"], STOP_SECONDS)["status"] == "stopped"
    assert stack.finished(second["turn_id"])["status"] == "succeeded"
    check_views(stack, first["session_id"])
