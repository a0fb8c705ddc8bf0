"""A replayed conversation with all that is odd: each request must equal the recorded prefix."""

import asyncio
import json

from backend.agents.run import run_agent
from colloquy_kit.messages.state import empty_state
from tests.fakes import ScriptedModel, find_disorder
from tests.runs import KeepingOutbox, final_state, recipe_for
from tests.servers.tool import ToolServer, text_result, tool

ODD = [
    {"role": "system", "content": "Be exact."},
    {"role": "user", "content": "fünf 五"},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"b":1,  "a":2}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "look", "content": ""},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": i, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            for i in ("call_1", "call_2")
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "look", "content": "Error: none"},
    {"role": "tool", "tool_call_id": "call_2", "name": "look", "content": " \n x \n"},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "###STOP###"},
]


def sent(message):
    """The part of a recorded message that a request carries."""
    return {k: message.get(k) for k in ("role", "content", "tool_calls", "tool_call_id")}


def as_step(message):
    calls = message.get("tool_calls") or []
    made = [
        {"name": c["function"]["name"], "args": c["function"]["arguments"], "id": c["id"]}
        for c in calls
    ]
    return {"text": message["content"], "tools": made}


async def replay(recorded, model, tools):
    state = empty_state()
    image = {"system_prompt": recorded[0]["content"], "mcp_servers": {"s": tools.template}}
    async with recipe_for(model.url, **image) as recipe:
        for place, message in enumerate(recorded):
            if message["role"] != "user" or place + 1 == len(recorded):
                continue
            asked = {"role": "user", "content": message["content"], "id": f"u{place}"}
            state = {**state, "messages": [*state["messages"], asked]}
            outbox = KeepingOutbox()
            await run_agent(recipe, state, outbox)
            state = json.loads(json.dumps(final_state(outbox.events)))
    return state


def test_every_request_is_exactly_the_recorded_prefix():
    recorded = ODD

    def answer(messages, _body):
        return as_step(recorded[len(messages)]) if len(messages) < len(recorded) else {"text": ""}

    def result(name, arguments):
        prefix = model.messages[-1]
        batch = recorded[len(prefix)]["tool_calls"]
        wanted = (name, arguments)
        for number, call in enumerate(batch):
            function = call["function"]
            if number not in given[len(prefix)] and wanted == (
                function["name"],
                json.loads(function["arguments"]),
            ):
                given[len(prefix)].add(number)
                return text_result(recorded[len(prefix) + 1 + number]["content"])
        raise AssertionError(wanted)

    given = {place: set() for place in range(len(recorded) + 1)}
    names = {c["function"]["name"] for m in recorded for c in m.get("tool_calls") or []}
    with ScriptedModel(answer) as model, ToolServer([tool(n) for n in names], result) as tools:
        state = asyncio.run(replay(recorded, model, tools))

    assert model.requests
    for messages in model.messages:
        assert find_disorder(messages) is None
        assert [sent(m) for m in messages] == [sent(m) for m in recorded[: len(messages)]]
        assert all(set(m) <= {"role", "content", "tool_calls", "tool_call_id"} for m in messages)
    kept = [sent(m) for m in state["messages"]]
    assert kept[: len(recorded) - 1] == [sent(m) for m in recorded[1 : len(kept) + 1]]
