"""A call of a tool ends: in time, with a bounded result, and whatever the tool does."""

import asyncio
import time
from types import SimpleNamespace

import pytest
from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from backend.agents.bounded import LET_GO_SECONDS
from backend.agents.middleware.filesystem import Filesystem
from backend.agents.middleware.todos import Todos, TodosSettings
from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.steps.tool_calls import effect_of, place_of
from backend.agents.steps.tool_results import MAX_ERROR_CHARS, MAX_RESULT_CHARS
from backend.tools.journal import IDEMPOTENCY_KEY, CallKey, NoJournal
from backend.tools.registry import Effect
from tests.runs import TURN_ID

CALLS = [{"name": "t", "args": {"n": n}, "id": "same", "type": "tool_call"} for n in (1, 1, 2)]
DEEP = "x"
for _ in range(5_000):
    DEEP = [DEEP]


class Numbered(BaseModel):
    n: int


def make_tool(run=None, arun=None):
    return StructuredTool.from_function(run, arun, name="t", description="t", args_schema=Numbered)


TOOL = make_tool(lambda n: None)


def request(tool=TOOL, number=0):
    message = AIMessage("", id="m", tool_calls=CALLS)
    answered = ToolMessage("x", tool_call_id="same")
    call = message.tool_calls[number]
    return ToolCallRequest(call, tool, {"messages": [message, answered]}, None)


async def guarded(handler, tool=TOOL, seconds=0.2):
    guard = ToolGuard(NoJournal(), TURN_ID, seconds)
    return await guard.awrap_tool_call(request(tool), handler)


def run(handler, tool=TOOL):
    began = time.monotonic()
    result = asyncio.run(guarded(handler, tool))
    return result, time.monotonic() - began


async def sleepy(_):
    await asyncio.sleep(30)


async def deaf(_):
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


def test_a_tool_that_takes_too_long_is_ended_and_its_outcome_is_open():
    result, taken = run(sleepy, make_tool(arun=sleepy))

    assert result.status == "error"
    assert "longer than 0.2 seconds, its limit, and was ended" in result.content
    assert "may or may not have taken effect" in result.content
    assert result.additional_kwargs == {"outcome": "unknown"}
    assert taken < 1


def test_a_tool_that_ignores_its_end_is_left_behind_and_that_is_said():
    async def go():
        began = time.monotonic()
        result = await guarded(deaf, make_tool(arun=deaf))
        return result, time.monotonic() - began

    result, taken = asyncio.run(go())

    assert "It could not be ended: it may still run." in result.content
    assert taken < 0.2 + LET_GO_SECONDS + 0.5


def test_a_synchronous_tool_runs_on_and_that_is_said():
    def slow():
        time.sleep(1)

    result, _ = run(lambda _: asyncio.to_thread(slow), make_tool(slow))

    assert "may still run" in result.content


@pytest.mark.parametrize("tool", [sleepy, deaf, lambda _: asyncio.to_thread(time.sleep, 1)])
def test_a_stop_is_prompt_whatever_the_tool_does(tool):
    async def go():
        task = asyncio.create_task(guarded(tool, seconds=30))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert asyncio.run(go()) < 1


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ("a\x00\ud83d", "a\u2400\ufffd"),
        ("x" * 300_000_000, None),
        ([{"type": "text", "text": "x" * 2_000_000}], None),
        ([{"type": "text", "text": "short"}], [{"type": "text", "text": "short"}]),
    ],
)
def test_whatever_a_tool_says_is_clean_and_bounded(content, kept):
    async def say(_):
        return ToolMessage.model_construct(
            content=content, tool_call_id="c", name="t", status="success", id=None, artifact=None
        )

    result, taken = run(say)

    assert taken < 2
    assert len(str(result.content)) < MAX_RESULT_CHARS + 200
    if kept is None:
        assert str(MAX_RESULT_CHARS) in result.content or "300000000" in result.content
    else:
        assert result.content == kept


def test_an_artifact_is_strict_json_and_one_that_is_too_large_is_left_out_visibly():
    odd = {"nan": float("nan"), "bytes": b"\x00", "deep": DEEP, 1: "\ud800"}

    async def small(_):
        return ToolMessage("ok", tool_call_id="c", artifact=odd)

    async def large(_):
        return ToolMessage("ok", tool_call_id="c", artifact={"x": ["y" * 1000] * 30_000})

    kept, left_out = run(small)[0], run(large)[0]

    assert kept.artifact["nan"] == "NaN"
    assert kept.artifact["1"] == "\ufffd"
    assert left_out.artifact is None
    assert left_out.content == "ok\n[left out: the structured part of the result is too large]"


def test_calls_are_told_apart_by_their_place_even_when_they_are_equal():
    places = [place_of(request(number=number)) for number in range(3)]

    assert [place.key for place in places] == [CallKey("m", number) for number in range(3)]
    assert {place.batch_size for place in places} == {3}


def test_a_built_in_tool_has_its_declared_effect_and_an_unknown_one_acts():
    known = SimpleNamespace(name="list_sources")

    assert effect_of(known) is Effect.READ_ONLY
    assert effect_of(make_tool(arun=sleepy)) is Effect.ACTS
    assert effect_of(None) is Effect.READ_ONLY


def test_tools_that_change_the_state_only_are_harmless():
    (write_todos,) = Todos(TodosSettings()).tools

    for tool in (write_todos, *Filesystem.tools):
        assert effect_of(tool) is Effect.READ_ONLY


def test_a_tool_that_only_acts_sees_no_key():
    seen = []

    async def look(_):
        seen.append(IDEMPOTENCY_KEY.get())
        return ToolMessage("ok", tool_call_id="c")

    run(look, make_tool(arun=look))

    assert seen == [None]


def test_a_long_error_is_cut_and_says_so():
    async def fail(_):
        raise ValueError("long " * 1_000)

    result, _ = run(fail)

    assert len(result.content) < MAX_ERROR_CHARS + 100
    assert result.content.endswith("[cut here: the message has 4999 characters]")
