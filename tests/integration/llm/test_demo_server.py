"""The demo model as a real process, asked as OpenAI's client asks, with the real tools."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import httpx
import openai
import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from backend.auth.scope import LOCAL_USER
from backend.data.sources import Sources
from backend.tools.context import ToolContext
from backend.tools.registry import build_tools

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def url():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "backend.demo_model", "--port", str(port), "--delay-ms", "0"]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


def wait_for(address):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if httpx.get(address).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    pytest.fail("the demo model did not start")


@pytest.fixture(scope="module")
def tools(tmp_path_factory, sandbox):
    sources = Sources(tmp_path_factory.getbasetemp() / "shared-finance", {}, sandbox)
    context = ToolContext(sources, uuid4(), uuid4(), LOCAL_USER)
    return {tool.name: tool for tool in build_tools(None, context)}


@pytest.fixture
def client(url):
    with openai.OpenAI(base_url=url, api_key="none") as opened:
        yield opened


@pytest.fixture
def chat(client, tools):
    """Asks as an agent does: runs the calls, goes on until there is an answer."""
    offered = [convert_to_openai_tool(tool) for tool in tools.values()]

    def run(messages, question):
        messages.append({"role": "user", "content": question})
        for _ in range(6):
            completion = client.chat.completions.create(
                model="demo", messages=messages, tools=offered
            )
            message = completion.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                request = {"type": "tool_call", "id": call.id, "name": call.function.name,
                           "args": json.loads(call.function.arguments)}  # fmt: skip
                answer = asyncio.run(tools[call.function.name].ainvoke(request))
                messages.append(
                    {"role": "tool", "tool_call_id": call.id, "content": str(answer.content)}
                )
        return pytest.fail("no answer")

    return run


def look_up(tools, sql):
    request = {"type": "tool_call", "id": "x", "name": "query_source",
               "args": {"source": "fi", "sql": sql}}  # fmt: skip
    return asyncio.run(tools["query_source"].ainvoke(request)).artifact["rows"]


def test_budget_and_follow_up_are_computed_from_the_data(chat, tools):
    ((budget,),) = look_up(
        tools,
        "SELECT SUM(amount_group) FROM bpc.figures WHERE version = 'BUDGET' "
        "AND fiscal_year = 2026 AND cost_centre = 'CC-1001'",
    )
    ((actual,),) = look_up(
        tools,
        "SELECT SUM(amount_group) FROM totals WHERE fiscal_year = 2026 AND cost_centre = 'CC-1001'",
    )
    messages = []

    first = chat(messages, "What's the budget for CC-1001?")
    second = chat(messages, "How much of it is left?")

    assert f"EUR {budget:,.2f}" in first
    assert f"EUR {budget - actual:,.2f}" in second


def test_fi_and_bpc_are_compared_and_the_late_posting_is_found(chat):
    answer = chat([], "Compare FI and BPC for period 9 of 2026 and explain the differences")

    assert "CC-1001" in answer
    assert "late posting" in answer
    assert "2026-10-" in answer


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What data do you have?", ["**fi**", "**bpc**", "documents"]),
        ("Describe fi.documents", ["cost_centre", "amount_group"]),
        ("What are the top 3 cost centres by spend in 2025?", ["CC-1004", "EUR"]),
        ("What is the total for travel in March 2026?", ["630000", "EUR"]),
        ("Compare CC-1001 and CC-2002", ["CC-1001 Marketing", "CC-2002", "Used"]),
        ("Explain the differences between FI and BPC in 2026",
         ["mapping", "missing elimination", "wrong sign", "late posting",
          "**currency translation**: 39 differences", "**unexplained**: 0", "tolerance of EUR 1.00",
          "Together: EUR -1,737.83"]),
        ("SELECT count(*) AS n FROM cost_centres", ["16"]),
        ("budget of CC-9999", ["no cost centre"]),
    ],
)  # fmt: skip
def test_each_kind_of_question_is_answered_with_the_tools(chat, question, words):
    answer = chat([], question)

    for word in words:
        assert word in answer


def test_a_stream_carries_thinking_parallel_calls_and_usage(client, tools):
    offered = [convert_to_openai_tool(tool) for tool in tools.values()]
    question = [{"role": "user", "content": "Compare CC-1001 and CC-2002"}]

    chunks = list(
        client.chat.completions.create(
            model="demo", messages=question, tools=offered, stream=True,
            stream_options={"include_usage": True},
        )
    )  # fmt: skip

    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert any(getattr(delta, "reasoning_content", None) for delta in deltas)
    assert {call.index for delta in deltas for call in delta.tool_calls or []} == {0, 1}
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"
    assert chunks[-1].usage.total_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_stream_ends_with_done(url):
    body = {"model": "demo", "messages": [{"role": "user", "content": "hi"}], "stream": True}

    lines = httpx.post(f"{url}/chat/completions", json=body).text.split("\n\n")

    assert lines[-2] == "data: [DONE]"


def test_a_dangling_call_is_refused_in_openai_s_shape(client):
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]

    with pytest.raises(openai.BadRequestError, match="must be followed by tool messages"):
        client.chat.completions.create(model="demo", messages=messages)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b'{"messages": 1}', b'{"messages": [1]}']
)
def test_a_malformed_request_gets_a_400_with_openai_s_error(url, body):
    response = httpx.post(f"{url}/chat/completions", content=body)

    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_the_model_is_listed(client):
    assert [model.id for model in client.models.list()] == ["demo"]


def test_a_limit_of_tokens_is_kept(client):
    completion = client.chat.completions.create(
        model="demo", messages=[{"role": "user", "content": "count to 500"}], max_tokens=5
    )

    assert completion.choices[0].finish_reason == "length"
    assert len(completion.choices[0].message.content) == 20
