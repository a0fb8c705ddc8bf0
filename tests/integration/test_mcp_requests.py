"""What a tool server asks of us is refused at once, and however much it says hurts nobody else."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.asking_server import TEMPLATE, over_http
from tests.integration.scenes import make_domain
from tests.integration.test_mcp_faults import ask, call_of, opened
from tests.runs import JSON
from tests.stack import Stack
from tests.tool_server import ToolServer, tool

SECONDS = 15  # it used to be 600
REFUSED = {
    "sampling": "refused: Sampling not supported",
    "roots": "refused: List roots not supported",
    "elicitation": "refused: Elicitation not supported",
    "unknown": "refused: Invalid request parameters",
    "ping": "answered",
}


@contextmanager
def asking(way: str) -> Iterator[JSON]:
    if way == "a process":
        yield TEMPLATE
        return
    with over_http() as server:
        yield server.template


def within(seconds: float, template: JSON, name: str, **arguments: Any) -> str:
    """What the call says; it is given up after so many seconds."""
    result, taken = ask({**template, "call_seconds": seconds}, name, **arguments)
    assert taken < seconds, result.content
    return str(result.content)


@pytest.mark.parametrize("way", ["a process", "its own stream", "the call's stream"])
@pytest.mark.parametrize("request_of", REFUSED)
def test_a_server_that_asks_is_refused_at_once(way: str, request_of: str) -> None:
    with asking(way) as template:
        said = within(SECONDS, template, request_of, within=way == "the call's stream")

    assert said == REFUSED[request_of]


@pytest.mark.parametrize("way", ["a process", "its own stream", "the call's stream"])
def test_a_server_that_asks_again_and_again_gets_each_answer(way: str) -> None:
    with asking(way) as template:
        said = within(60, template, "many", count=50, within=way == "the call's stream")

    assert said == REFUSED["roots"]


def test_a_turn_ends_by_itself_when_its_server_asks(stack: Stack, model: Any) -> None:
    with over_http() as server:
        domain = make_domain(stack, mcp_servers={"a": TEMPLATE, "b": server.template})
        names = ["b__sampling", "roots", "b__elicitation"]
        model.steps = [{"tools": [{"name": name} for name in names]}, {"text": "end"}]
        answered = stack.chat("go", domain=domain["name"])

    assert answered["response"] == "end"
    told = [m["content"] for m in model.requests[-1]["messages"] if m["role"] == "tool"]
    assert told == [REFUSED[name.removeprefix("b__")] for name in names]


@pytest.mark.parametrize("way", ["a process", "the call's stream"])
def test_a_server_that_floods_leaves_the_loop_to_others(way: str) -> None:
    """What it sends is taken at a pace, so that it costs a bounded share of a processor."""

    async def go(template: JSON, fine: JSON) -> tuple[list[str], float]:
        async with opened(s=template, fine=fine) as tools:
            flood = asyncio.create_task(tools["flood"].ainvoke(call_of("flood", count=200_000)))
            used = time.process_time()
            said = []
            for _ in range(8):
                await asyncio.sleep(0.5)
                said.append((await tools["quiet"].ainvoke(call_of("quiet"))).content)
            used = time.process_time() - used
            flood.cancel()
            await asyncio.gather(flood, return_exceptions=True)
            return said, used

    with asking(way) as template, ToolServer([tool("quiet")], lambda *_: "fine") as fine:
        said, used = asyncio.run(go(template, fine.template))

    assert said == ["fine"] * 8
    if way == "a process":  # the other one runs, and floods, in this very process
        assert used < 2.5


@pytest.mark.parametrize("way", ["a process", "the call's stream"])
def test_many_messages_are_taken_though_slowly_in_the_end(way: str) -> None:
    with asking(way) as template:
        assert within(60, template, "flood", count=1_500) == "flooded"
