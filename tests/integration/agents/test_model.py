import asyncio
import json
import time
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage

from backend.agents.steps.events import TextDelta
from backend.errors.base import ConfigurationError
from backend.errors.models import IncompleteAnswer, ModelUnavailable
from backend.llm.provider import ModelProvider
from tests.fakes import ScriptedModel
from tests.runs import PATIENCE, asking, failing, final_state, run, settings_for, steps
from tests.servers.tool import ToolServer, tool

HALF = '{"to": "boss", "body": "I do NOT agr'
FIRST = b'data: {"choices": [{"index": 0, "delta": {"content": "ok"}}]}\n\n'
IMPATIENCE = replace(PATIENCE, first_token_seconds=0.5, silence_seconds=0.5)
WHOLE = {"to": "boss", "body": "I do"}


@pytest.fixture(scope="module")
def tools():
    with ToolServer([tool("send")], lambda *_: "sent") as server:
        yield server


def sending(arguments, **misbehaviour):
    return {"text": "ok", "tools": [{"name": "send", "args": arguments}], **misbehaviour}


@pytest.mark.parametrize(
    "step",
    [
        sending(HALF, drop=True),
        sending(HALF, finish="length"),
        sending(HALF, cut=True),
        sending(WHOLE, drop=True),
        sending(WHOLE, finish="length"),
        sending(WHOLE, finish="content_filter"),
        sending(WHOLE, cut=True),
        sending(WHOLE, finish="error"),
        {"text": "ok", "tools": [{"name": "", "args": WHOLE}]},
        {"text": "ok", "tools": [{"name": "send", "args": WHOLE, "index": {}}]},
        {"text": "half an ans", "drop": True},
        {"text": "half an ans", "cut": True},
        {"raw": b""},
        {"raw": b"data: [DONE]\n\n"},
        {"raw": FIRST + b'data: {"choices": [{"index": 0, "delta": {"content": 7}}]}\n\n'},
        {"raw": FIRST + b'data: {"choices": [{"index": 0, "delta": {"content": "\xff"}}]}\n\n'},
        {"raw": FIRST + b"data: <html>\n\n"},
    ],
)
def test_a_broken_answer_runs_no_tool(tools, step):
    tools.calls.clear()
    with ScriptedModel([step, {"text": "end"}]) as model:
        events, _ = failing(model.url, IncompleteAnswer, mcp_servers={"s": tools.template})

    assert steps(events) == []
    assert tools.calls == []


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"status": 401, "text": "Incorrect API key provided: sk-canary-123456"}, "OPENAI_API_KEY"),
        ({"status": 404, "text": "The model does not exist"}, "no model 'gpt-4o'"),
        ({"status": 429, "text": "slow down", "headers": {"retry-after": "0.01"}}, "rate limit"),
        ({"status": 500, "headers": {"retry-after": "0.01"}}, "status 500"),
        ({"status": 400, "text": "maximum context length is 8192 tokens"}, "longer than"),
        ({"status": 400, "text": "sk-canary-123456 is bad"}, "refused the request"),
        ({"raw": b'data: {"error": {"message": "overloaded"}}\n\n'}, "overloaded"),
        ({"raw": b"data: <html>\n\n"}, "cannot be read"),
        ({"wait": 30}, "silent"),
        ({"text": "a b", "hang": 30}, "silent"),
    ],
)
def test_a_failing_endpoint_is_explained_without_secrets(step, words):
    with ScriptedModel([step]) as model, pytest.raises(ModelUnavailable, match=words) as failure:
        run(model.url, asking("go"), patience=IMPATIENCE)

    assert "canary" not in failure.value.detail


def test_an_endpoint_that_is_not_there_is_named_quickly():
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="OPENAI_BASE_URL"):
        run("http://127.0.0.1:1/v1", asking("go"))

    assert time.monotonic() - began < 25


def test_a_busy_endpoint_is_asked_again_before_anything_was_said():
    answers = [{"status": 503, "headers": {"retry-after": "0.01"}}, {"text": "now"}]
    with ScriptedModel(lambda *_: answers.pop(0)) as model:
        events = run(model.url, asking("go"))

    assert final_state(events)["messages"][-1]["content"] == "now"
    assert len(model.requests) == 2


def test_what_jsonb_refuses_is_cleaned_and_deltas_still_equal_the_text(tools):
    halves = [{"content": "a\x00 \ud83d"}, {"content": "\ude00 \ud83d b"}]
    chunks = [{"index": 0, "delta": delta} for delta in halves]
    chunks.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    lines = [f"data: {json.dumps({'choices': [c], 'model': 'm'})}\n\n" for c in chunks]
    with ScriptedModel([{"raw": "".join(lines).encode()}]) as model:
        events = run(model.url, asking("go"))

    shown = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert shown == "a\u2400 \U0001f600 \ufffd b"
    assert final_state(events)["messages"][-1]["content"] == shown


def test_an_answer_names_its_model_even_if_the_endpoint_does_not():
    unnamed = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    named = {**unnamed, "model": "gpt-4o-2024-08-06"}

    for chunk, name in ((unnamed, "gpt-4o"), (named, "gpt-4o-2024-08-06")):
        with ScriptedModel([{"raw": f"data: {json.dumps(chunk)}\n\n".encode()}]) as model:
            state = final_state(run(model.url, asking("go")))
        assert state["messages"][-1]["response_metadata"]["model_name"] == name


def test_arguments_that_jsonb_refuses_reach_the_tool_clean(tools):
    text = '{"nul": "\\u0000", "half": "\\ud83d", "big": 1e400}'
    tools.calls.clear()
    with ScriptedModel([sending(text), {"text": "end"}]) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    assert tools.calls == [("send", {"nul": "\u2400", "half": "\ufffd", "big": "Infinity"})]
    (call,) = final_state(events)["messages"][1]["tool_calls"]
    assert call["function"]["arguments"] == text


def test_two_calls_that_claim_the_same_index_stay_two(tools):
    both = [{"name": "send", "args": {"n": n}, "id": f"c{n}", "index": 0} for n in (1, 2)]
    tools.calls.clear()
    with ScriptedModel([{"tools": both}, {"text": "end"}]) as model:
        run(model.url, asking("go"), mcp_servers={"s": tools.template})

    assert sorted(c[1]["n"] for c in tools.calls) == [1, 2]


def test_streaming_and_synchronous_use_give_the_same_answer_and_refuse_the_same():
    good = {"think": "hm", "text": "two words", "tools": [{"name": "t", "args": '{"a":  1}'}]}
    cut = sending(HALF, drop=True)
    with ScriptedModel(lambda messages, _: good if len(messages) == 1 else cut) as model:
        chat = ModelProvider(settings_for(model.url)).chat_model()
        answers = [chat.invoke("go"), sum_chunks(chat.stream("go")), asyncio.run(stream(chat))]
        for ask in (chat.invoke, lambda m: list(chat.stream(m))):
            with pytest.raises(IncompleteAnswer):
                ask([HumanMessage("go"), HumanMessage("on")])

    for answer in answers:
        assert answer.content == "two words"
        assert answer.additional_kwargs["reasoning_content"] == "hm"
        assert answer.additional_kwargs["raw_arguments"] == ['{"a":  1}']
        assert answer.tool_calls[0]["args"] == {"a": 1}
        assert answer.usage_metadata["output_tokens"] == 3
        assert answer.response_metadata["finish_reason"] == "tool_calls"


def sum_chunks(chunks):
    total = None
    for chunk in chunks:
        assert isinstance(chunk, AIMessageChunk)
        total = chunk if total is None else total + chunk
    return total


async def stream(chat):
    return sum_chunks([chunk async for chunk in chat.astream("go")])


def test_without_a_key_the_demo_model_takes_the_same_path():
    with ScriptedModel([{"text": "hi"}]) as model:
        changes = {"openai_api_key": "", "openai_base_url": "", "model": ""}
        models = ModelProvider(settings_for("", **changes, demo_model_url=model.root_url))
        answer = models.chat_model().invoke("go")

    assert models.connection.is_demo
    assert answer.content == "hi"
    assert model.requests[0]["model"] == "demo"


def test_a_demo_model_that_no_one_started_is_a_clear_error():
    changes = {"openai_api_key": "", "openai_base_url": "", "demo_model_url": ""}
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        ModelProvider(settings_for("", **changes)).chat_model()
