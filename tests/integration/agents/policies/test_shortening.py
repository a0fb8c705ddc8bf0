"""Summaries and left out results keep what the model is sent within its budget."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from backend.agents.middleware.shortening.compaction import find_cut, is_summary, summary_message
from backend.errors.models import ConversationTooLong
from backend.types import JSON
from colloquy_kit.messages.state import empty_state
from tests.fakes import ScriptedModel, find_disorder
from tests.integration.agents.policies.states import later, results, said
from tests.runs import GOOD, asking, failing, final_state, run, steps


def test_old_results_are_left_out_of_requests_only(looking: Any) -> None:
    policy = [{"context_editing": {"trigger_tokens": 10, "keep": 1}}]
    calls = [{"tools": [{"name": "look", "args": {"n": n}}]} for n in range(3)]
    with ScriptedModel([*calls, {"text": "done"}]) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
        state = final_state(run(model.url, asking("go"), **image))
        sent = [m["content"] for m in model.messages[-1] if m["role"] == "tool"]

    assert [text.startswith("[left out") for text in sent] == [True, True, False]
    assert [m["content"] for m in results(state)] == [f"{{'n': {n}}}" for n in range(3)]


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


SMALL = {"summarization": {"prompt": "Context Extraction {messages}"}}  # its limits are far away


def small_model(work: Any, most: int = 400) -> Any:
    """A model that refuses to read more than some tokens, also to summarise them."""

    def answer(messages: list[JSON], body: JSON) -> JSON:
        if budget_of(messages) > most:
            return {"status": 400, "text": f"maximum context length is {most} tokens"}
        return work(messages, body)

    return answer


def test_what_a_model_refuses_as_too_long_is_summarised_and_asked_again() -> None:
    talk = Talk()
    with ScriptedModel(small_model(talk)) as model:
        state, made = converse(model, 12, SMALL)

    assert talk.summaries == sum(not step.messages for step in made) >= 2
    assert [notice for step in made for notice in step.notices] == []
    assert sum(is_marked(m) for m in state["messages"]) == 1
    assert "question 11" in state["messages"][-2]["content"]


def test_what_becomes_too_long_within_a_turn_is_summarised_and_no_call_is_repeated(
    looking: Any,
) -> None:
    looking.calls.clear()
    number = iter(range(1, 13))

    def work(messages: list[JSON], body: JSON) -> JSON:
        if is_summary_request(messages):
            return {"text": "Looked around."}
        n = next(number, None)
        return {"tools": [{"name": "look", "args": {"n": f"{n} " + "y" * 80}}] * 2} if n else GOOD

    with ScriptedModel(small_model(work)) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": [SMALL]}
        state = final_state(run(model.url, asking("the question"), **image))

    assert said(state) == GOOD["text"]
    assert len(looking.calls) == 24
    assert all(find_disorder(messages) is None for messages in model.messages)
    sent = [messages for messages in model.messages if not is_summary_request(messages)]
    again = [pair for pair in pairwise(sent) if budget_of(pair[0]) > 400]
    assert again and all(before[-1] == after[-1] for before, after in again)


def test_what_stays_too_long_or_may_not_be_shortened_fails() -> None:
    for image in ({"middleware": [SMALL]}, {"middleware": []}):
        with ScriptedModel(small_model(Talk(), most=-1)) as model:
            failing(model.url, ConversationTooLong, **image)
            assert len(model.requests) == 1 + bool(image["middleware"])


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
