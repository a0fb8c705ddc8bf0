"""A run saves each step before the next begins, and ends visibly whatever happens."""

import asyncio
import json
import time
from dataclasses import replace

import pytest

from backend.agents.run import run_agent
from backend.agents.steps.events import TextDelta, ThinkingDelta, ToolFinished
from backend.errors.base import InvalidInput
from backend.errors.domains import SecretMissing
from backend.errors.turns import LeaseLost, StepLimitReached, TimeLimitReached
from tests.fakes import ScriptedModel
from tests.runs import PATIENCE, KeepingOutbox, asking, failing, final_state, run, run_with, steps
from tests.servers.tool import ToolServer, text_result, tool

LATER = 0.15


async def answer(name, arguments):
    await asyncio.sleep(arguments.get("seconds", 0))
    if name == "boom":
        return text_result("no such account", is_error=True)
    return arguments.get("say", "done")


@pytest.fixture(scope="module")
def tools():
    with ToolServer([tool("work"), tool("other"), tool("boom")], answer) as server:
        yield server


def call(name="work", call_id="c1", **arguments):
    return {"name": name, "args": arguments, "id": call_id}


def test_an_answer_arrives_in_pieces_and_then_as_a_step():
    with ScriptedModel([{"think": "let me see", "text": "All is well."}]) as model:
        events = run(model.url, asking("how is it?"), system_prompt="Be kind.")

    (step,) = steps(events)
    (message,) = step.messages
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "All is well."
    assert "".join(e.text for e in events if isinstance(e, ThinkingDelta)) == "let me see"
    assert {e.message_id for e in events[1:-1]} == {message["id"]}
    assert message["content"] == "All is well."
    assert message["additional_kwargs"]["reasoning_content"] == "let me see"
    assert step.state["messages"] == [*asking("how is it?")["messages"], message]
    assert step.usage.model_calls == 1
    assert step.usage.output_tokens == 4
    assert step.usage.reasoning_tokens == 2
    assert model.requests[0]["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "how is it?"},
    ]
    assert model.requests[0]["model"] == "gpt-4o"
    assert "tools" not in model.requests[0]


def test_without_a_system_prompt_none_is_sent():
    with ScriptedModel([{"text": "hi"}]) as model:
        run(model.url, asking("hello"))

    assert model.messages == [[{"role": "user", "content": "hello"}]]


def test_parallel_results_come_as_each_ends_and_are_saved_in_call_order(tools):
    script = [
        {"tools": [call(call_id="a", seconds=LATER, say="A"), call("other", "b", say="B")]},
        {"text": "both"},
    ]
    with ScriptedModel(script) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    finished = [e.message["tool_call_id"] for e in events if isinstance(e, ToolFinished)]
    asked, batch, final = steps(events)
    assert finished == ["b", "a"]
    assert [m["content"] for m in batch.messages] == ["A", "B"]
    assert batch.state["messages"][:2] == asked.state["messages"]
    assert batch.state["messages"][1] is asked.state["messages"][1]
    assert batch.usage.model_calls == 0
    assert final.messages[0]["content"] == "both"
    assert len({m["id"] for m in final.state["messages"]}) == 5


def test_nothing_of_the_next_step_begins_before_the_step_is_saved(tools):
    script = [{"tools": [call()]}, {"tools": [call(call_id="c2")]}, {"text": "end"}]
    seen = []

    async def save_slowly(step):
        before = (len(tools.calls), len(model.requests))
        await asyncio.sleep(LATER)
        seen.append((*before, len(tools.calls), len(model.requests)))

    async def go(recipe):
        await run_agent(recipe, asking("go"), KeepingOutbox(save_slowly))

    tools.calls.clear()
    with ScriptedModel(script) as model:
        run_with(model.url, go, mcp_servers={"s": tools.template})

    assert seen == [(0, 1, 0, 1), (1, 1, 1, 1), (1, 2, 1, 2), (2, 2, 2, 2), (2, 3, 2, 3)]


def test_a_failing_tool_gives_an_error_result_and_the_turn_goes_on(tools):
    script = [{"tools": [call("boom"), call("unknown", "c2")]}, {"text": "sorry"}]
    with ScriptedModel(script) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    boom, unknown = steps(events)[1].messages
    assert (boom["content"], boom["status"]) == ("no such account", "error")
    assert unknown["status"] == "error"
    assert unknown["content"] == (
        "There is no tool unknown here, so nothing was run. There are: work, other, boom."
    )
    assert final_state(events)["messages"][-1]["content"] == "sorry"


def test_an_agent_without_tools_answers_an_invented_call_with_an_error():
    with ScriptedModel([{"tools": [call("invented")]}, {"text": "sorry"}]) as model:
        events = run(model.url, asking("go"))

    (result,) = steps(events)[1].messages
    assert result["status"] == "error"
    assert result["content"].endswith("tool invented here, so nothing was run. There are: none.")
    assert final_state(events)["messages"][-1]["content"] == "sorry"


def test_reused_duplicate_and_missing_call_ids_are_told_apart(tools):
    script = [
        {"tools": [call(say="1"), call(say="2"), call(call_id="", say="3")]},
        {"tools": [call(say="4")]},
        {"text": "end"},
    ]
    with ScriptedModel(script) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    results = [m for m in final_state(events)["messages"] if m["role"] == "tool"]
    assert [m["content"] for m in results] == ["1", "2", "3", "4"]
    assert [m["tool_call_id"] for m in results][0::3] == ["c1", "c1"]
    assert len({m["tool_call_id"] for m in results[:3]}) == 3
    assert len({m["id"] for m in final_state(events)["messages"]}) == 8


def test_the_models_argument_text_is_sent_back_byte_for_byte(tools):
    odd = '{"say":"\\u00e4",  "n":1.50,"big":1e22,"z":1,"a":2}'
    script = [{"tools": [{"name": "work", "args": odd, "id": "c"}]}, {"text": "end"}]
    with ScriptedModel(script) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})
        again = json.loads(json.dumps(final_state(events)))
        again["messages"].append({"role": "user", "content": "more", "id": "u2"})
        run(model.url, again, mcp_servers={"s": tools.template})

    for messages in model.messages[1:]:
        assert messages[1]["tool_calls"][0]["function"]["arguments"] == odd
        assert messages[1]["content"] is None
    assert tools.calls[-1] == ("work", json.loads(odd))


def test_an_empty_or_refused_answer_ends_the_turn_visibly():
    with ScriptedModel([{"text": ""}]) as model:
        (empty,) = steps(run(model.url, asking("go")))
    with ScriptedModel([{"refusal": "I must not.", "finish": "content_filter"}]) as model:
        (refused,) = steps(run(model.url, asking("go")))

    assert empty.messages[0]["content"] == ""
    assert refused.messages[0]["content"] == "I must not."
    assert refused.messages[0]["response_metadata"]["finish_reason"] == "content_filter"
    assert refused.messages[0]["additional_kwargs"] == {"refusal": True}


def test_the_limit_of_steps_ends_a_loop_before_the_next_tool_runs(tools):
    tools.calls.clear()
    image = {"mcp_servers": {"s": tools.template}, "limits": {"steps": 5}}
    with ScriptedModel(lambda *_: {"tools": [call()]}) as model:
        events, _ = failing(model.url, StepLimitReached, "5 steps", **image)

    assert len(steps(events)) == 5
    assert len(tools.calls) == 2


def test_an_answer_at_the_limit_is_an_answer():
    with ScriptedModel([{"text": "in time"}]) as model:
        events = run(model.url, asking("go"), limits={"steps": 1})

    assert final_state(events)["messages"][-1]["content"] == "in time"


def test_a_turn_that_takes_too_long_ends_with_a_clear_error():
    with (
        ScriptedModel([{"text": "a b c", "hang": 30}]) as model,
        pytest.raises(TimeLimitReached, match="1 seconds"),
    ):
        run(model.url, asking("go"), limits={"turn_seconds": 1})


def test_a_missing_secret_is_named_before_the_model_is_asked():
    server = {"transport": "streamable_http", "url": "http://127.0.0.1:1/${NOT_SET_HERE}"}
    with ScriptedModel([{"text": "x"}]) as model, pytest.raises(SecretMissing, match="NOT_SET"):
        run(model.url, asking("go"), mcp_servers={"s": server})

    assert model.requests == []


def test_an_unknown_agent_is_refused_and_a_known_one_has_its_own_prompt_model_and_tools(tools):
    agents = [
        {"name": "first"},
        {"name": "second", "system_prompt": "Two.", "model": "m2", "tools": ["other"]},
    ]
    image = {"agents": agents, "system_prompt": "D.", "mcp_servers": {"s": tools.template}}
    with ScriptedModel([{"text": "x"}]) as model:
        run(model.url, asking("go"), agent="second", **image)
        run(model.url, asking("go"), **image)
        with pytest.raises(InvalidInput, match="first, second"):
            run(model.url, asking("go"), agent="third", **image)

    two, one = model.requests
    assert (two["model"], two["messages"][0]["content"]) == ("m2", "Two.")
    assert [t["function"]["name"] for t in two["tools"]] == ["other"]
    assert (one["model"], one["messages"][0]["content"]) == ("gpt-4o", "D.")
    assert len(one["tools"]) == 3


def test_with_a_finished_state_nothing_happens():
    done = asking("go")
    done["messages"].append({"role": "assistant", "content": "done", "id": "a"})
    with ScriptedModel() as model:
        assert run(model.url, done) == []

    assert model.requests == []


def test_recent_messages_cuts_what_the_model_reads_at_a_persons_message(tools):
    before = []
    for number in range(6):
        before += [
            {"role": "user", "content": f"q{number}", "id": f"u{number}"},
            {"role": "assistant", "content": f"a{number}", "id": f"a{number}"},
        ]
    policy = [{"recent_messages": {"trigger": 8, "keep": 4}}]
    with ScriptedModel([{"text": "end"}]) as model:
        events = run(model.url, asking("now", *before), middleware=policy)

    assert [m["content"] for m in model.messages[0]] == ["q5", "a5", "now"]
    assert [m["content"] for m in final_state(events)["messages"]] == ["q5", "a5", "now", "end"]
    assert final_state(events)["messages"][0] is before[10]


@pytest.mark.parametrize(
    "phase", ["before the answer", "in the answer", "before another try", "in a tool"]
)
def test_cancelling_stops_model_and_tools_at_once(tools, phase):
    script = {
        "before the answer": {"wait": 30},
        "in the answer": {"text": "word " * 1000, "delay": 0.02},
        "before another try": {"status": 503},
        "in a tool": {"tools": [call(seconds=30)]},
    }[phase]
    tools.calls.clear()

    async def cancel(recipe):
        task = asyncio.create_task(run_agent(recipe, asking("go"), KeepingOutbox()))
        while not (tools.calls if phase == "in a tool" else model.requests):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        taken = time.monotonic() - began
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(others, timeout=30) if others else None
        return taken, [t for t in others if not t.done()]

    with ScriptedModel([script]) as model:
        image = {"mcp_servers": {"s": tools.template}, "patience": replace(PATIENCE, first_wait=30)}
        taken, left = run_with(model.url, cancel, **image)
        assert model.open_streams == 0

    assert taken < 10
    assert left == []


def test_a_step_that_cannot_be_saved_ends_the_run_before_its_tools_begin(tools):
    async def refuse(step):
        raise LeaseLost

    async def go(recipe):
        with pytest.raises(LeaseLost):
            await run_agent(recipe, asking("go"), KeepingOutbox(refuse))

    tools.calls.clear()
    script = [{"text": "calling", "tools": [call()]}, {"text": "end"}]
    with ScriptedModel(script) as model:
        run_with(model.url, go, mcp_servers={"s": tools.template})

        assert len(model.requests) == 1
    assert tools.calls == []
