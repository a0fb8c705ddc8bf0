"""What is used is counted once, by model, outlives its session, and ends turns at their budgets."""

from pathlib import Path
from typing import Any

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    make_session,
    stop,
    tool_domain,
)
from tests.stack import JSON, Servers, Stack

CALL = {"tools": [{"name": "look", "args": {}}]}
COUNTED = "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "model_calls"


def ledger(stack: Stack, domain: str) -> dict[str, Any]:
    """What the ledger has of a domain, by model."""
    rows = stack.query(
        "SELECT model, sum(turns), sum(model_calls), sum(input_tokens + output_tokens), sum(cost)"
        " FROM usage_days WHERE domain_name = :domain GROUP BY model",
        domain=domain,
    )
    return {model: (int(turns), int(calls), int(tokens)) for model, turns, calls, tokens, _ in rows}


def tokens_of(turn: JSON) -> int:
    return turn["usage"]["input_tokens"] + turn["usage"]["output_tokens"]


def test_deleting_a_session_frees_nothing_of_a_day(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, USER_TOKENS_PER_DAY="1000") as stack:
        answer = stack.chat(script({"text": "word " * 4_000}))
        stack.client.delete(f"/sessions/{answer['session_id']}").raise_for_status()

        refused = stack.client.post("/chat", json={"message": "more"})

        assert check_problem(refused, 429)["title"] == "Tokens used up"


def test_deleting_a_session_whose_turn_runs_frees_nothing(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        waiting = script(CALL, {"text": "late", "wait": 60})
        turn = stack.submit(waiting, session_id)["turn_id"]
        stack.wait_for(lambda: stack.turn(turn)["steps"] == 2, "the tool does not end")
        used = stack.turn(turn)

        stack.client.delete(f"/sessions/{session_id}").raise_for_status()

    assert ledger(stack, domain["name"]) == {"scripted": (1, 1, tokens_of(used))}


def test_a_turn_is_put_down_once_however_it_ends(stack: Stack) -> None:
    with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        answered = stack.turn(stack.chat(script({"text": "done"}), session_id)["turn_id"])
        failing = script(CALL, {"status": 400, "text": "no"})
        failed = stack.finished(stack.submit(failing, session_id)["turn_id"])
        waiting = stack.submit(script(CALL, {"text": "late", "wait": 60}), session_id)["turn_id"]
        stack.wait_for(lambda: stack.turn(waiting)["steps"] == 2, "the tool does not end")
        stop(stack, waiting)
        stopped = stack.finished(waiting)

    turns = [answered, failed, stopped]
    assert [turn["status"] for turn in turns] == ["succeeded", "failed", "stopped"]
    assert ledger(stack, domain["name"]) == {"scripted": (3, 3, sum(map(tokens_of, turns)))}
    usage = stack.client.get(f"/sessions/{session_id}/usage").json()
    assert (usage["turns"], usage["total"]["model_calls"]) == (3, 3)
    assert [model["model"] for model in usage["models"]] == ["scripted"]
