"""More than is allowed is refused with a sentence and a time to come back; nothing is stored."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    stop,
    tool_domain,
)
from tests.stack import Servers, Stack

USER_TURNS, ALL_TURNS = 3, 5
WAITS = script({"text": "late", "wait": 60})


@pytest.fixture(scope="module")
def narrow(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A stack in which few turns may wait."""
    limits = {
        "USER_TURNS": str(USER_TURNS),
        "MODEL_PRICES": '{"scripted": {"input": 10, "cached": 5, "output": 100}}',
    }
    with make_stack(servers, model, tmp_path_factory.mktemp("narrow"), **limits) as running:
        yield running


def test_more_turns_than_one_person_may_have_are_refused(narrow: Stack) -> None:
    turns = [narrow.submit(WAITS) for _ in range(USER_TURNS)]
    stored = _count(narrow)

    refused = narrow.client.post("/chat", json={"message": "one more"})

    problem = check_problem(refused, 429)
    assert int(refused.headers["Retry-After"]) > 0
    assert problem["title"] == "Too many turns"
    assert _count(narrow) == stored
    for turn in turns:
        stop(narrow, turn["turn_id"])
        narrow.finished(turn["turn_id"])
    assert narrow.chat("now there is room")["status"] == "succeeded"


def test_a_message_that_was_accepted_is_not_refused_when_it_comes_again(narrow: Stack) -> None:
    first = narrow.submit(WAITS, **{"Idempotency-Key": "again and again"})
    others = [narrow.submit(WAITS) for _ in range(USER_TURNS - 1)]

    again = narrow.submit(WAITS, **{"Idempotency-Key": "again and again"})

    assert again["turn_id"] == first["turn_id"]
    for turn in (first, *others):
        stop(narrow, turn["turn_id"])
        narrow.finished(turn["turn_id"])


def test_a_turn_says_what_it_has_cost(narrow: Stack) -> None:
    turn = narrow.chat(script({"text": "word " * 40}))

    used = narrow.turn(turn["turn_id"])["usage"]

    fresh = used["input_tokens"] - used["cached_tokens"]
    cost = (10 * fresh + 5 * used["cached_tokens"] + 100 * used["output_tokens"]) / 1e6
    assert used["cost"] == pytest.approx(cost)
    assert cost > 0


def test_a_turn_ends_before_the_next_call_when_it_has_cost_enough(narrow: Stack) -> None:
    calls = {"tools": [{"name": "look", "args": {}}]}
    with tool_domain(narrow, lambda name, arguments: "found", "look") as (domain, server):
        limits = {"limits": {"cost": 0.00001}}
        narrow.client.patch(f"/domains/{domain['id']}", json=limits).raise_for_status()
        session_id = make_session(narrow, domain["name"])

        turn = narrow.finished(narrow.submit(script(calls, calls), session_id)["turn_id"])

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Cost limit reached")
    assert turn["usage"]["model_calls"] == 1
    assert server.calls == []


@pytest.mark.parametrize(
    ("limit", "title"),
    [("USER_TOKENS_PER_DAY", "Tokens used up"), ("USER_COST_PER_DAY", "Budget used up")],
)
def test_a_person_who_has_used_up_their_day_is_told_so(
    servers: Servers, model: ScriptedModel, tmp_path: Path, limit: str, title: str
) -> None:
    prices = '{"scripted": {"output": 1000}}'
    with make_stack(servers, model, tmp_path, MODEL_PRICES=prices, **{limit: "1"}) as stack:
        assert stack.chat(script({"text": "word " * 2_000}))["status"] == "succeeded"
        stored = _count(stack)

        refused = stack.client.post("/chat", json={"message": "more"})

        assert check_problem(refused, 429)["title"] == title
        assert int(refused.headers["Retry-After"]) > 0
        assert _count(stack) == stored


def test_one_persons_turns_beyond_those_at_once_wait_for_each_other(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    with make_stack(servers, model, tmp_path, USER_TURNS_AT_ONCE="2") as stack:
        brief = script({"text": "word " * 10, "delay": 0.05})

        turns = [stack.submit(brief) for _ in range(7)]
        ended = [stack.finished(turn["turn_id"]) for turn in turns]

    assert {(turn["status"], turn["attempts"]) for turn in ended} == {("succeeded", 1)}
    assert _most_at_once(ended) == 2


def test_more_turns_than_all_may_have_are_refused(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, ALL_TURNS=str(ALL_TURNS)) as stack:
        answers = [
            stack.client.post("/chat", json={"message": WAITS}, headers={"Prefer": "wait=0"})
            for _ in range(3 * ALL_TURNS)
        ]
        stack.wait_for(lambda: _submit_refused(stack), "never refused")

    # The count of all is a second old at most, so a few more may slip in; not without end.
    assert {answer.status_code for answer in answers} <= {202, 429}


def _most_at_once(turns: list[JSON]) -> int:
    """How many of them ran at one moment, by the database's clock."""
    changes = [(turn["started_at"], 1) for turn in turns]
    changes += [(turn["finished_at"], -1) for turn in turns]
    running = itertools.accumulate(change for _, change in sorted(changes))
    return max(running)


def _submit_refused(stack: Stack) -> JSON | None:
    answer = stack.client.post("/chat", json={"message": WAITS}, headers={"Prefer": "wait=0"})
    return check_problem(answer, 429) if answer.status_code == 429 else None


def test_a_turn_counts_the_steps_that_its_limit_counts(stack: Stack, model: ScriptedModel) -> None:
    summaries = itertools.count()

    def go_on(messages: list[JSON], _: JSON) -> JSON:
        if "Context Extraction" in str(messages[-1]["content"]):
            return {"text": f"Summary {next(summaries)}."}
        return {"text": "word " * 200, "tools": [{"name": "look"}]}

    model.steps = go_on
    with tool_domain(stack, lambda *_: "word " * 200, "look") as (domain, _):
        policy = {"summarization": {"trigger_tokens": 600, "keep_tokens": 100}}
        change = {"limits": {"steps": 6}, "middleware": [policy]}
        stack.client.patch(f"/domains/{domain['id']}", json=change).raise_for_status()
        turn = stack.finished(stack.submit("Look.", make_session(stack, domain["name"]))["turn_id"])

    assert turn["error"]["detail"].startswith("The agent made 6 steps, its limit")
    assert next(summaries) > 0
    assert turn["steps"] == 6


def _count(stack: Stack) -> list[int]:
    """How many sessions, turns and display messages are stored."""
    tables = ("conversations", "turns", "display_messages")
    return [stack.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables]


def test_a_call_that_a_limit_keeps_from_beginning_is_not_said_to_have_an_unknown_outcome(
    stack: Stack,
) -> None:
    with tool_domain(stack, lambda name, args: "found", "look") as (domain, server):
        stack.client.patch(f"/domains/{domain['id']}", json={"limits": {"steps": 1}})
        session_id = make_session(stack, domain["name"])
        asked = stack.submit(script({"tools": [{"name": "look"}]}, {"text": "done"}), session_id)
        assert stack.finished(asked["turn_id"])["error"]["title"] == "Step limit reached"

    rows, _ = check_views(stack, session_id)
    (call,) = (row for row in rows if row["content_type"] == "tool_call")
    (result,) = (row for row in rows if row["content_type"] == "tool_result")
    assert server.calls == []
    assert call["status"] == "stopped"
    assert result["content"]["content"].endswith("It has changed nothing.")


def test_an_answer_that_is_there_is_not_taken_back_for_what_it_has_used(stack: Stack) -> None:
    domain = make_domain(stack, limits={"tokens": 1})

    answer = stack.chat(script({"text": "word " * 5}), make_session(stack, domain["name"]))

    assert (answer["status"], answer["response"]) == ("succeeded", "word " * 5)


def test_a_worker_lost_after_a_step_does_not_let_a_turn_use_more(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    fired = tmp_path / "fired"
    fired.mkdir()
    armed = {
        "FAILPOINTS": "step.after_save=kill",
        "FAILPOINTS_DIR": str(fired),
        "SWEEP_SECONDS": "0.2",
    }
    calls = {"tools": [{"name": "look", "args": {}}]}
    with make_stack(servers, model, tmp_path, **armed) as stack:
        stack.start_worker()
        with tool_domain(stack, lambda name, arguments: "found", "look") as (domain, server):
            limits = {"limits": {"tokens": 1}}
            stack.client.patch(f"/domains/{domain['id']}", json=limits).raise_for_status()
            session_id = make_session(stack, domain["name"])

            turn = stack.finished(stack.submit(script(calls, calls), session_id)["turn_id"])

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Token limit reached")
    assert (len(model.requests), server.calls) == (1, [])


def test_who_has_used_up_their_tokens_cannot_go_on_by_retrying(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, USER_TOKENS_PER_DAY="100") as stack:
        failed = stack.submit(script({"status": 400, "text": "no"}))
        stack.finished(failed["turn_id"])
        stack.chat(script({"text": "word " * 400}))
        turns = _count(stack)

        refused = stack.client.post(f"/turns/{failed['turn_id']}/retry")

        assert check_problem(refused, 429)["title"] == "Tokens used up"
        assert _count(stack) == turns
