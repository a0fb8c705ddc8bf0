"""Policies in real turns: what is stored and shown of todos, summaries, limits and titles."""

from typing import Any

import pytest

from backend.turns.run.record.drafts import LEFT_OUT, SUMMARISED
from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    Gate,
    check_problem,
    check_views,
    make_domain,
    make_session,
    stop,
    tool_domain,
)
from tests.stack import Stack

TODOS = [{"content": "look", "status": "in_progress"}, {"content": "tell", "status": "pending"}]
DONE = [{**todo, "status": "completed"} for todo in TODOS]


def writing(todos: list[JSON]) -> JSON:
    return {"tools": [{"name": "write_todos", "args": {"todos": todos}}]}


def kinds(rows: list[JSON]) -> list[str]:
    return [row["content_type"] for row in rows]


def shown_todos(rows: list[JSON]) -> list[list[JSON]]:
    return [row["content"]["todos"] for row in rows if row["content_type"] == "todos"]


def written(todos: list[JSON]) -> list[JSON]:
    """The items as the agent wrote them, which knows no ids."""
    return [{key: value for key, value in todo.items() if key != "id"} for todo in todos]


def notices(rows: list[JSON]) -> list[str]:
    return [row["content"]["text"] for row in rows if row["content_type"] == "notice"]


def test_each_change_of_the_todos_is_a_row_and_an_event(stack: Stack) -> None:
    session_id = make_session(stack, make_domain(stack, tools=[], middleware=["todos"])["name"])
    with stack.events(session_id) as events:
        stack.submit(script(writing(TODOS), writing(DONE), {"text": "done"}), session_id)
        seen = []
        for event in events:
            seen.append(event)
            if event["event"] == "turn_finished":
                break

    rows, state = check_views(stack, session_id)
    assert kinds(rows) == [
        "text", "tool_call", "tool_result", "todos", "tool_call", "tool_result", "todos", "text",
    ]  # fmt: skip
    first, last = shown_todos(rows)
    assert [written(first), written(last)] == [TODOS, DONE]
    assert [todo["id"] for todo in first] == [todo["id"] for todo in last]
    assert len({todo["id"] for todo in last}) == len(DONE)
    assert state["todos"] == last
    told = [event["data"]["todos"] for event in seen if event["event"] == "todos_updated"]
    assert told == [first, last]


def test_what_a_finished_call_has_changed_is_kept_when_its_turn_is_stopped(
    stack: Stack, model: ScriptedModel
) -> None:
    gate = Gate()
    both = {"tools": [*writing(TODOS)["tools"], {"name": "wait", "args": {}}]}
    with tool_domain(stack, gate.answer, "wait") as (domain, server):
        stack.client.patch(f"/domains/{domain['id']}", json={"middleware": ["todos"]})
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script(both, {"text": "done"}), session_id)
        stack.wait_for(lambda: server.calls, "the tool is not called")
        stop(stack, turn["turn_id"])
        stack.finished(turn["turn_id"])
        gate.is_open = True

    rows, state = check_views(stack, session_id)
    assert written(state["todos"]) == TODOS
    assert shown_todos(rows) == [state["todos"]]


def test_calls_that_a_policy_stops_are_closed_on_the_screen(stack: Stack) -> None:
    policy = {"tool_call_limit": {"turn": 1}}
    twice = {"tools": [{"name": "look", "args": {"n": n}} for n in range(2)]}
    with tool_domain(stack, lambda name, args: "found", "look") as (domain, server):
        stack.client.patch(f"/domains/{domain['id']}", json={"middleware": [policy]})
        session_id = make_session(stack, domain["name"])
        stack.chat(script(twice, {"text": "done"}), session_id)

    rows, _ = check_views(stack, session_id)
    calls = [row for row in rows if row["content_type"] == "tool_call"]
    assert [row["status"] for row in calls] == ["completed", "failed"]
    assert [row["content"]["is_error"] for row in rows if row["content_type"] == "tool_result"] == [
        True, False,
    ]  # fmt: skip
    assert len(server.calls) == 1


def test_a_limit_ends_the_turn_with_a_sentence_and_the_session_goes_on(stack: Stack) -> None:
    policy = {"model_call_limit": {"turn": 1}}
    with tool_domain(stack, lambda name, args: "found", "look") as (domain, _):
        stack.client.patch(f"/domains/{domain['id']}", json={"middleware": [policy]})
        session_id = make_session(stack, domain["name"])
        asked = stack.submit(script({"tools": [{"name": "look"}]}, {"text": "done"}), session_id)
        turn = stack.finished(asked["turn_id"])
        check_views(stack, session_id)
        assert stack.chat(script({"text": "fine"}), session_id)["response"] == "fine"

    assert (turn["status"], turn["error"]["title"]) == ("failed", "Call limit reached")
    assert "asked its model 1 time in this turn" in turn["error"]["detail"]


@pytest.mark.parametrize(
    ("middleware", "said"),
    [
        (["no_such"], "There is no middleware 'no_such'"),
        ([{"summarization": {"trigger_tokens": 10}}], "trigger_tokens"),
        ([{"summarization": {"keep_tokens": 30_000}}], "half of trigger_tokens"),
        ([{"summarization": {"prompt": "Be brief."}}], "{messages}"),
        ([{"model_fallback": {}}], "models"),
        ([{"model_call_limit": {}}], "give a limit"),
        ([{"model_call_limit": {"turn": 3, "session": 2}}], "must not be larger"),
        ([{"tool_call_limit": {"turn": 3, "session": 2}}], "must not be larger"),
        ([{"tool_call_limit": {"turn": 3, "then": "shout"}}], "then"),
        ([{"todos": {"colour": "red"}}], "colour"),
        ([{"title": {"seconds": 0}}], "seconds"),
        (["todos", "todos"], "named twice"),
    ],
)
def test_a_domain_with_a_wrong_policy_is_refused_in_words(
    stack: Stack, middleware: list[Any], said: str
) -> None:
    for template in (
        {"middleware": middleware},
        {"agents": [{"name": "a", "middleware": middleware}]},
    ):
        answer = stack.client.post("/domains", json={"name": "wrong", **template})

        assert said in check_problem(answer, 422)["detail"]


# Long conversations.

TRIGGER, KEEP, TURNS = 600, 200, 60


class Companion:
    """Answers each question by a call and some words; summarises, and counts what it was sent."""

    def __init__(self) -> None:
        self.summaries = 0
        self.largest = 0

    def __call__(self, messages: list[JSON], body: JSON) -> JSON:
        if "Context Extraction" in str(messages[-1]["content"]):
            self.summaries += 1
            return {"text": f"Summary {self.summaries}."}
        tokens = sum(len(str(m.get("content") or "")) // 4 for m in messages)
        self.largest = max(self.largest, tokens)
        asked = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        return {"text": f"Answer to {asked}: " + "word " * 20}


def converse(stack: Stack, model: ScriptedModel, turns: int, trigger: int, keep: int) -> None:
    model.steps = companion = Companion()
    policy = {"summarization": {"trigger_tokens": trigger, "keep_tokens": keep}}
    domain = make_domain(stack, tools=[], middleware=[policy])
    session_id = make_session(stack, domain["name"])
    asked = [f"question {number} " + "why " * 10 for number in range(turns)]

    for question in asked:
        assert stack.chat(question, session_id)["status"] == "succeeded"

    rows, state = check_views(stack, session_id)
    said = [row["content"]["text"] for row in rows if row["content_type"] == "text"]
    assert said[::2] == asked
    assert [text.startswith(f"Answer to {q}") for text, q in zip(said[1::2], asked, strict=True)]
    assert companion.largest <= trigger
    assert notices(rows) == [SUMMARISED] * companion.summaries
    assert 2 <= companion.summaries <= turns // 4
    assert len(state["messages"]) < trigger // 10
    _check_flat(stack, session_id, trigger)


def _check_flat(stack: Stack, session_id: str, trigger: int) -> None:
    """What a step saves does not grow with the conversation."""
    sizes = [
        size
        for (size,) in stack.query(
            "SELECT length(delta::text) FROM agent_state_deltas WHERE conversation_id = :id"
            " ORDER BY version",
            id=session_id,
        )
    ]
    half = len(sizes) // 2
    assert max(sizes[half:]) <= max(max(sizes[:half]) * 1.2, trigger * 8)
    assert sum(sizes[half:]) <= sum(sizes[:half]) * 1.2


def test_a_long_conversation_keeps_every_word_and_each_request_is_within_budget(
    stack: Stack, model: ScriptedModel
) -> None:
    converse(stack, model, TURNS, TRIGGER, KEEP)


@pytest.mark.chaos
@pytest.mark.timeout(900)
def test_five_hundred_turns_with_summaries_at_eight_thousand_tokens(
    stack: Stack, model: ScriptedModel
) -> None:
    converse(stack, model, 500, 8_000, 3_000)


def test_a_summary_counts_into_the_turn_that_needed_it(stack: Stack, model: ScriptedModel) -> None:
    model.steps = companion = Companion()
    policy = {"summarization": {"trigger_tokens": 300, "keep_tokens": 100}}
    session_id = make_session(stack, make_domain(stack, tools=[], middleware=[policy])["name"])
    before = 0
    while companion.summaries == before:
        turn = stack.chat("question " + "why " * 30, session_id)

    used = stack.turn(turn["turn_id"])["usage"]
    assert used["model_calls"] == 2
    assert used["input_tokens"] > 600  # the summary's prompt alone is more


def test_without_a_summary_the_row_says_that_words_were_left_out(
    stack: Stack, model: ScriptedModel
) -> None:
    companion = Companion()

    def without(messages: list[JSON], body: JSON) -> JSON:
        step = companion(messages, body)
        return {"status": 401} if body["model"] == "broken" else step

    model.steps = without
    policy = {"summarization": {"trigger_tokens": 300, "keep_tokens": 100, "model": "broken"}}
    session_id = make_session(stack, make_domain(stack, tools=[], middleware=[policy])["name"])
    while not companion.summaries:
        assert stack.chat("question " + "why " * 30, session_id)["status"] == "succeeded"

    rows, _ = check_views(stack, session_id)
    told = notices(rows)
    assert told[-1] == LEFT_OUT
    assert "could not be summarised (The model's endpoint refused the API key)" in told[-2]


# Titles.


def title_of(stack: Stack, session_id: str) -> str:
    return str(stack.client.get(f"/sessions/{session_id}").json()["title"])


@pytest.fixture
def titled(stack: Stack) -> str:
    """The name of a domain whose conversations get titles."""
    return str(make_domain(stack, tools=[], middleware=["title"])["name"])


def test_the_model_names_a_conversation_after_its_first_answer(
    stack: Stack, model: ScriptedModel, titled: str
) -> None:
    model.title = {"text": '"Budget of Marketing."\n'}
    session_id = make_session(stack, titled)
    turn = stack.chat(script({"text": "It is 5."}), session_id)

    stack.wait_for(lambda: title_of(stack, session_id) == "Budget of Marketing", "no title")
    stack.chat(script({"text": "It is 6."}), session_id)

    asked = [request["messages"][-1]["content"] for request in model.title_requests]
    assert len(asked) == 1
    assert "Agent: It is 5." in asked[0]
    assert stack.turn(turn["turn_id"])["usage"]["model_calls"] == 2
    check_views(stack, session_id)


def test_nobody_waits_for_a_title_and_a_name_that_a_person_gave_stays(
    stack: Stack, model: ScriptedModel, titled: str
) -> None:
    model.title = {"text": "The model's title", "hang": 3}
    session_id = make_session(stack, titled)
    turn = stack.chat(script({"text": "It is 5."}), session_id)
    assert stack.chat(script({"text": "It is 6."}), session_id)["status"] == "succeeded"
    stack.client.patch(f"/sessions/{session_id}", json={"title": "Mine"}).raise_for_status()

    stack.wait_for(lambda: stack.turn(turn["turn_id"])["usage"]["model_calls"] == 2, "no title")
    assert title_of(stack, session_id) == "Mine"


@pytest.mark.parametrize("title", [{"status": 500}, {"text": "word " * 100}, {"text": ""}])
def test_without_a_title_the_first_line_stays(
    stack: Stack, model: ScriptedModel, titled: str, title: JSON
) -> None:
    model.title = title
    session_id = make_session(stack, titled)
    stack.chat("What is it? " + script({"text": "It is 5."}), session_id)

    stack.wait_for(lambda: model.title_requests, "nobody asked for a title")
    assert stack.chat(script({"text": "It is 6."}), session_id)["status"] == "succeeded"
    assert title_of(stack, session_id).startswith("What is it?")
