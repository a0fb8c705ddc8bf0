"""Named policies, each in an agent that asks a scripted model."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from backend.agents.middleware import registry
from backend.agents.middleware.registry import PolicySpec
from backend.agents.middleware.shortening.compaction import find_cut, is_summary, summary_message
from backend.agents.policy_context import Codec
from backend.agents.state import empty_state
from backend.agents.steps.events import AnswerReset, ModelWaiting, TextDelta
from backend.errors.base import ConfigurationError
from backend.errors.models import ModelUnavailable
from backend.errors.turns import CallLimitReached
from backend.types import JSON
from tests.fakes import ScriptedModel, find_disorder
from tests.runs import asking, final_state, run, steps
from tests.servers.tool import ToolServer, tool

CALL = {"name": "look", "args": {}}


def results(state: JSON) -> list[JSON]:
    return [m for m in state["messages"] if m["role"] == "tool"]


def said(state: JSON) -> str:
    return str(state["messages"][-1]["content"])


def later(state: JSON, text: str) -> JSON:
    """The stored state in which a person asks again."""
    stored: JSON = json.loads(json.dumps(state))
    message = {"role": "user", "content": text, "id": f"u{len(stored['messages'])}"}
    return {**stored, "messages": [*stored["messages"], message]}


# Todos.

TODOS = [{"content": "look", "status": "in_progress"}, {"content": "tell", "status": "pending"}]
DONE = [{**todo, "status": "completed"} for todo in TODOS]


def writing(todos: list[JSON]) -> JSON:
    return {"tools": [{"name": "write_todos", "args": {"todos": todos}}]}


def test_todos_are_kept_in_the_state_and_survive_until_the_next_turn() -> None:
    with ScriptedModel([writing(TODOS), writing(DONE), {"text": "done"}]) as model:
        events = run(model.url, asking("go"), middleware=["todos"])
        assert [step.state.get("todos") for step in steps(events)] == [
            None, TODOS, TODOS, DONE, DONE,
        ]  # fmt: skip
        model.steps = [{"text": "again"}]
        state = final_state(run(model.url, later(final_state(events), "?"), middleware=["todos"]))

    assert state["todos"] == DONE


def test_two_lists_of_todos_in_one_message_are_refused_and_the_agent_goes_on() -> None:
    both = {"tools": [*writing(TODOS)["tools"], *writing(DONE)["tools"]]}
    with ScriptedModel([both, {"text": "sorry"}]) as model:
        events = run(model.url, asking("go"), middleware=["todos"])

    first = steps(events)[0]
    assert [m["role"] for m in first.messages] == ["assistant", "tool", "tool"]
    assert {m["status"] for m in first.messages[1:]} == {"error"}
    assert "todos" not in first.state
    assert said(final_state(events)) == "sorry"


def test_a_policy_goes_on_with_values_of_an_older_shape_and_without_any() -> None:
    odd = {"todos": "buy milk", "files": ["a"], "thread_model_call_count": "3",
           "thread_tool_call_count": 7, "removed_policy": {"kept": True}}  # fmt: skip
    policies = ["todos", "filesystem", {"model_call_limit": {"session": 9}},
                {"tool_call_limit": {"session": 9}}]  # fmt: skip
    script = [{"tools": [{"name": "list_files", "args": {}}]}, {"text": "done"}]
    for before in (odd, {}):
        with ScriptedModel(script) as model:
            events = run(model.url, {**asking("go"), **before}, middleware=policies)

        state = final_state(events)
        assert said(state) == "done"
        assert results(state)[0]["content"] == "There are no files."
        assert state["thread_model_call_count"] == 2
        if before:
            assert (state["todos"], state["removed_policy"]) == ("buy milk", {"kept": True})


# Files.


def file_call(called: str, **args: Any) -> JSON:
    return {"name": called, "args": args}


def play_files(*batches: list[JSON], before: JSON | None = None) -> JSON:
    script = [*({"tools": calls} for calls in batches), {"text": "done"}]
    with ScriptedModel(script) as model:
        state = {**asking("go"), **(before or {})}
        return final_state(run(model.url, state, middleware=["filesystem"]))


def test_files_written_side_by_side_are_all_there() -> None:
    writes = [file_call("write_file", name=f"notes/{n}.md", content=f"line {n}") for n in range(5)]
    state = play_files(writes, [file_call("list_files"), file_call("search_files", text="LINE 3")])

    assert sorted(state["files"]) == [f"notes/{n}.md" for n in range(5)]
    listed, found = (m["content"] for m in results(state)[5:])
    assert listed.count("notes/") == 5
    assert found == "notes/3.md:1: line 3"


def test_files_are_read_edited_and_kept() -> None:
    before = {"files": {"a.md": {"content": "one\ntwo\none"}}}
    state = play_files(
        [file_call("edit_file", name="a.md", old="one", new="1", everywhere=True)],
        [file_call("read_file", name="/a.md", first_line=2, lines=1)],
        before=before,
    )

    assert state["files"] == {"a.md": {"content": "1\ntwo\n1"}}
    assert results(state)[1]["content"] == "2\ttwo\n[lines 2 to 2 of 3]"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (file_call("write_file", name="../etc/passwd", content="x"), "no file name"),
        (file_call("write_file", name="a//b", content="x"), "no file name"),
        (file_call("write_file", name="a\nb", content="x"), "no file name"),
        (file_call("write_file", name="n" * 201, content="x"), "200 characters"),
        (file_call("write_file", name="big", content="x" * 100_001), "100,000 characters"),
        (file_call("write_file", name="new", content="x"), "100 files"),
        (file_call("read_file", name="missing"), "there is no file 'missing'"),
        (file_call("edit_file", name="f0", old="nope", new="x"), "not in the file"),
        (file_call("edit_file", name="f0", old="a", new="x"), "2 times"),
        (file_call("edit_file", name="f0", old="", new="x"), "not in the file"),
    ],
)
def test_what_cannot_be_done_with_a_file_is_said(call: JSON, why: str) -> None:
    before = {"files": {f"f{n}": {"content": "aa"} for n in range(100)}}
    state = play_files([call], before=before)

    (result,) = results(state)
    assert result["status"] == "error"
    assert why in result["content"]
    assert state["files"] == before["files"]


def test_all_files_together_are_bounded_also_within_one_message() -> None:
    writes = [file_call("write_file", name=f"f{n}", content="x" * 90_000) for n in range(5)]
    state = play_files(writes)

    assert sorted(state["files"]) == ["f0", "f1", "f2"]
    assert ["status" in m for m in results(state)] == [False, False, False, True, True]


def test_one_message_changes_a_file_once() -> None:
    write = file_call("write_file", name="a", content="first")
    state = play_files([write, file_call("edit_file", name="a", old="first", new="second")])

    assert "Change a file once" in results(state)[1]["content"]
    assert state["files"] == {"a": {"content": "first"}}


def test_a_tool_whose_name_a_policy_needs_is_a_clear_error() -> None:
    with (
        ToolServer([tool("read_file")], lambda name, args: "x") as server,
        ScriptedModel() as model,
    ):
        image = {"mcp_servers": {"s": server.template}, "middleware": ["filesystem"]}
        with pytest.raises(ConfigurationError, match="'read_file'"):
            run(model.url, asking("go"), **image)
    assert model.requests == []


# Retries.


# The failure must reach the policy as an exception, as a dropped connection does; MCP tools give
# what a server says as a result, so that the failing ones are made here.
class Flaky(AgentMiddleware[Any, Any]):
    """Fails before the tool runs, as a broken connection does."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left, self.tries = times, 0

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.tries += 1
        self.left -= 1
        if self.left >= 0:
            raise ConnectionError("broken")
        return await handler(request)


class NoSettings(BaseModel):
    pass


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Add policies for one test: name and how it is built."""

    def add(**policies: Any) -> None:
        made = {
            name: PolicySpec(NoSettings, lambda _, __, policy=policy: policy)
            for name, policy in policies.items()
        }
        monkeypatch.setattr(registry, "MIDDLEWARE", {**registry.MIDDLEWARE, **made})

    return add


@pytest.mark.parametrize(
    ("annotations", "tries", "status"),
    [({"readOnlyHint": True}, 2, None), ({"idempotentHint": True}, 2, None), ({}, 1, "error")],
)
def test_only_what_is_harmless_is_called_again(
    named: Any, annotations: JSON, tries: int, status: str | None
) -> None:
    flaky = Flaky(1)
    named(flaky=flaky)
    policies = [{"tool_retry": {"retries": 3, "seconds": 0}}, "flaky"]
    with (
        ToolServer([tool("look", **annotations)], lambda name, args: "here") as server,
        ScriptedModel([{"tools": [CALL]}, {"text": "done"}]) as model,
    ):
        image = {"mcp_servers": {"s": server.template}, "middleware": policies}
        state = final_state(run(model.url, asking("go"), **image))

    assert flaky.tries == tries
    assert results(state)[0].get("status") == status


def test_the_model_is_asked_again_after_its_patience_and_people_see_the_wait() -> None:
    answers = iter([{"status": 503}] * 3 + [{"text": "here"}])
    policy = {"model_retry": {"retries": 1, "seconds": 0.01}}
    with ScriptedModel(lambda messages, body: next(answers)) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    assert said(final_state(events)) == "here"
    waits = [event for event in events if isinstance(event, ModelWaiting)]
    assert waits[-1].seconds == 0.01
    assert "status 503" in waits[-1].reason


def test_a_wrong_key_is_not_tried_again() -> None:
    policy = {"model_retry": {"retries": 3, "seconds": 0.01}}
    with ScriptedModel([{"status": 401}]) as model:
        with pytest.raises(ModelUnavailable, match="refused the API key"):
            run(model.url, asking("go"), middleware=[policy])

        assert len(model.requests) == 1


def test_another_model_answers_in_its_place_and_a_person_is_told() -> None:
    def answer(messages: list[JSON], body: JSON) -> JSON:
        return {"text": "I am here."} if body["model"] == "spare" else {"status": 404}

    policy = {"model_fallback": {"models": ["broken", "spare"]}}
    with ScriptedModel(answer) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    (step,) = steps(events)
    assert said(step.state) == "I am here."
    assert "".join(e.text for e in events if hasattr(e, "text")) == "I am here."
    (notice,) = step.notices
    assert "model gpt-4o did not" in notice and "model broken did not" in notice
    assert "spare answers" in notice


@pytest.mark.parametrize(
    "policy",
    [
        {"model_retry": {"retries": 1, "seconds": 0.01}},
        {"model_fallback": {"models": ["spare"]}},
    ],
)
def test_what_was_shown_of_an_answer_that_another_one_replaces_is_taken_back(policy: JSON) -> None:
    answers = iter([{"text": "half an", "cut": True}] * 3 + [{"text": "here"}])
    with ScriptedModel(lambda messages, body: next(answers)) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    shown = {event.message_id for event in events if isinstance(event, TextDelta)}
    void = [event.message_id for event in events if isinstance(event, AnswerReset)]
    (step,) = steps(events)
    assert len(void) == 3
    assert shown - set(void) == {step.messages[0]["id"]}


# Limits.


def endless(messages: list[JSON], body: JSON) -> JSON:
    return {"tools": [{"name": "look", "args": {"n": len(messages)}}]}


@pytest.fixture
def looking() -> Any:
    with ToolServer([tool("look", readOnlyHint=True)], lambda name, args: str(args)) as server:
        yield server


@pytest.mark.parametrize(("limit", "asked"), [({"turn": 3}, 3), ({"session": 2}, 2)])
def test_a_limit_of_model_calls_ends_the_turn(looking: Any, limit: JSON, asked: int) -> None:
    image = {"mcp_servers": {"s": looking.template}, "middleware": [{"model_call_limit": limit}]}
    with ScriptedModel(endless) as model:
        with pytest.raises(CallLimitReached, match=f"asked its model {asked} times"):
            run(model.url, asking("go"), **image)

        assert len(model.requests) == asked


def test_the_limit_of_a_turn_begins_anew_but_not_for_an_attempt_that_takes_over(
    looking: Any,
) -> None:
    policy = [{"model_call_limit": {"turn": 2}}]
    image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
    with ScriptedModel([{"tools": [CALL]}, {"text": "done"}]) as model:
        first = run(model.url, asking("go"), **image)
        again = run(model.url, later(final_state(first), "more"), **image)
        assert said(final_state(again)) == "done"
        taken_over = json.loads(json.dumps(steps(first)[1].state))  # the batch was saved
        model.steps = endless
        model.clear()
        with pytest.raises(CallLimitReached):
            run(model.url, taken_over, **image)

        assert len(model.requests) == 1


def test_calls_beyond_the_limit_get_an_error_and_the_agent_answers(looking: Any) -> None:
    policy = [{"tool_call_limit": {"tool": "look", "turn": 2}}]
    three = {"tools": [{"name": "look", "args": {"n": n}} for n in range(3)]}
    with ScriptedModel([three, {"tools": [CALL]}, {"text": "with what I have"}]) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
        events = run(model.url, asking("go"), **image)

        assert all(find_disorder(messages) is None for messages in model.messages)
    state = final_state(events)
    assert [m.get("status") for m in results(state)] == ["error", None, None, "error"]
    assert [len(step.messages) for step in steps(events)] == [2, 2, 2, 1]
    assert said(state) == "with what I have"
    assert state["run_tool_call_count"] == {"look": 4}


def test_a_limit_of_tool_calls_may_end_the_turn(looking: Any) -> None:
    policy = [{"tool_call_limit": {"turn": 2, "then": "end"}}]
    image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
    said = "called its tools 2 times in this turn"
    with ScriptedModel(endless) as model, pytest.raises(CallLimitReached, match=said):
        run(model.url, asking("go"), **image)
    assert len(looking.calls) == 2


# What the model is sent.


def test_old_results_are_left_out_of_requests_only(looking: Any) -> None:
    policy = [{"context_editing": {"trigger_tokens": 10, "keep": 1}}]
    calls = [{"tools": [{"name": "look", "args": {"n": n}}]} for n in range(3)]
    with ScriptedModel([*calls, {"text": "done"}]) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
        state = final_state(run(model.url, asking("go"), **image))
        sent = [m["content"] for m in model.messages[-1] if m["role"] == "tool"]

    assert [text.startswith("[left out") for text in sent] == [True, True, False]
    assert [m["content"] for m in results(state)] == [f"{{'n': {n}}}" for n in range(3)]


# Values that JSON does not know.


class Visited(AgentState[Any]):
    visited: set[str]


class Travels(AgentMiddleware[Any, Any]):
    """Keeps a set, which JSON does not know."""

    state_schema = Visited
    codecs = {"visited": Codec(sorted, set)}

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    async def abefore_agent(self, state: Any, runtime: Any) -> JSON:
        self.found.append(state.get("visited"))
        return {"visited": {*(state.get("visited") or ()), f"turn {len(self.found)}"}}


def test_a_policy_says_how_its_values_are_stored(named: Any) -> None:
    travels = Travels()
    named(travels=travels)
    with ScriptedModel([{"text": "done"}]) as model:
        first = final_state(run(model.url, asking("go"), middleware=["travels"]))
        second = final_state(run(model.url, later(first, "on"), middleware=["travels"]))
        odd = {**later(second, "on"), "visited": 7}
        third = final_state(run(model.url, odd, middleware=["travels"]))

    assert travels.found == [None, {"turn 1"}, None]
    assert (first["visited"], second["visited"]) == (["turn 1"], ["turn 1", "turn 2"])
    assert third["visited"] == ["turn 3"]


# Summaries.


def is_summary_request(messages: list[JSON]) -> bool:
    return "Context Extraction" in str(messages[-1]["content"])


class Talk:
    """A scripted model for long conversations, which counts its summaries."""

    def __init__(self, summary: JSON | None = None, words: int = 60) -> None:
        self.summaries = 0
        self._summary = summary
        self._words = words

    def __call__(self, messages: list[JSON], body: JSON) -> JSON:
        if is_summary_request(messages):
            self.summaries += 1
            return self._summary or {"text": f"Summary number {self.summaries}."}
        return {"text": "word " * self._words}


def budget_of(messages: list[JSON]) -> int:
    return sum(len(str(m["content"])) // 4 for m in messages)


POLICY = {"summarization": {"trigger_tokens": 500, "keep_tokens": 200}}


def converse(model: ScriptedModel, turns: int, policy: JSON = POLICY) -> tuple[JSON, list[Any]]:
    state, all_steps = empty_state(), []
    for number in range(turns):
        events = run(model.url, later(state, f"question {number} " + "x" * 40), middleware=[policy])
        all_steps += steps(events)
        state = final_state(events)
    return state, all_steps


def test_old_messages_become_a_summary_and_requests_stay_within_the_budget() -> None:
    talk = Talk()
    with ScriptedModel(talk) as model:
        state, made = converse(model, 20)
        answers = [messages for messages in model.messages if not is_summary_request(messages)]

    assert 2 <= talk.summaries <= 8
    assert max(map(budget_of, answers)) <= 500
    assert state["messages"][0]["additional_kwargs"] == {"lc_source": "summarization"}
    assert f"Summary number {talk.summaries}." in state["messages"][0]["content"]
    assert sum(is_marked(m) for m in state["messages"]) == 1
    paid = [step for step in made if not step.messages]
    assert len(paid) == talk.summaries
    assert all(step.usage.model_calls == 1 and step.usage.input_tokens > 100 for step in paid)


def is_marked(message: JSON) -> bool:
    return message.get("additional_kwargs", {}).get("lc_source") == "summarization"


def test_a_summary_tells_of_the_summary_before_it() -> None:
    with ScriptedModel(Talk()) as model:
        converse(model, 20)
        told = [m[-1]["content"] for m in model.messages if is_summary_request(m)]

    for before, after in pairwise(range(1, len(told) + 1)):
        assert f"Summary number {before}." in told[after - 1]


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        ({"status": 500}, "status 500"),
        ({"status": 401}, "refused the API key"),
        ({"text": ""}, "empty"),
        ({"text": "late", "wait": 3}, "longer than 0.5 seconds"),
    ],
)
def test_without_a_summary_the_turn_goes_on_and_says_so(summary: JSON, reason: str) -> None:
    talk = Talk(summary)
    policy = {"summarization": {**POLICY["summarization"], "seconds": 0.5}}
    with ScriptedModel(talk) as model:
        state, made = converse(model, 8, policy)
        answers = [messages for messages in model.messages if not is_summary_request(messages)]

    notices = [notice for step in made for notice in step.notices]
    assert notices and all(reason in notice or "longer than" in notice for notice in notices)
    assert len(answers) == 8
    assert max(map(budget_of, answers)) <= 500
    assert not any(is_marked(m) for m in state["messages"])
    assert state["messages"][0]["role"] != "tool"


def test_within_a_long_turn_the_question_stays_and_calls_keep_their_results(looking: Any) -> None:
    def work(messages: list[JSON], body: JSON) -> JSON:
        if is_summary_request(messages):
            return {"text": "Looked around."}
        number = sum(1 for sent in model.messages if not is_summary_request(sent))
        if number > 12:
            return {"text": "done"}
        return {"tools": [{"name": "look", "args": {"n": f"{number} " + "y" * 100}}] * 2}

    with ScriptedModel(work) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": [POLICY]}
        state = final_state(run(model.url, asking("the question"), **image))
        sent = [messages for messages in model.messages if not is_summary_request(messages)]

    assert len(sent) < len(model.messages)
    assert said(state) == "done"
    for messages in sent:
        assert find_disorder(messages) is None
        assert [m["content"] for m in messages if m["role"] == "user"][-1] == "the question"


def test_a_question_larger_than_the_budget_is_not_summarised_again_and_again() -> None:
    talk = Talk()
    with ScriptedModel(talk) as model:
        state, _ = converse(model, 3)
        for _ in range(5):
            model.steps = talk
            state = final_state(run(model.url, later(state, "z" * 4_000), middleware=[POLICY]))
            assert model.messages[-1][-1]["content"] == "z" * 4_000
    assert talk.summaries <= 6


KINDS = {"u": HumanMessage("x" * 40), "a": AIMessage("y" * 40), "c": None, "s": None}


@given(
    st.lists(st.sampled_from("uuaac"), min_size=1, max_size=40), st.integers(10, 300), st.booleans()
)
def test_a_cut_parts_no_call_from_its_result(kinds: list[str], keep: int, summed: bool) -> None:
    messages: list[Any] = [summary_message("before")] if summed else []
    for number, kind in enumerate(kinds):
        if kind == "c":
            call = {"name": "t", "args": {}, "id": f"c{number}", "type": "tool_call"}
            messages += [
                AIMessage("", tool_calls=[call], id=f"m{number}"),
                ToolMessage("r" * 60, tool_call_id=f"c{number}", id=f"r{number}"),
            ]
        else:
            messages.append(KINDS[kind].model_copy(update={"id": f"m{number}"}))

    cut = find_cut(messages, keep, 20)

    if cut is None:
        return
    assert cut.old and cut.kept
    assert not any(map(is_summary, [*cut.old, *cut.kept]))
    said = [m.id for m in messages if not is_summary(m)]
    assert sorted([m.id for m in [*cut.old, *cut.kept]]) == sorted(said)
    for part in (cut.old, cut.kept):
        assert [m.id for m in part] == [i for i in said if i in {m.id for m in part}]
        calls = {c["id"] for m in part for c in getattr(m, "tool_calls", ())}
        assert calls == {m.tool_call_id for m in part if isinstance(m, ToolMessage)}
    persons = [m.id for m in messages if isinstance(m, HumanMessage) and not is_summary(m)]
    assert not persons or persons[-1] in {m.id for m in cut.kept}
