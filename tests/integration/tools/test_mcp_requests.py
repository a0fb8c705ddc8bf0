"""What a tool server asks of us is refused at once, and however much it says hurts nobody else."""

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backend.tools.mcp.connection.wire import MESSAGES_A_SECOND, MESSAGES_AT_ONCE, Pace
from backend.types import JSON
from tests.integration.scenes import make_domain
from tests.integration.tools.mcp_calls import ask, call_of, opened
from tests.servers.asking import TEMPLATE, over_http
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

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


FLOOD = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
              "serverInfo": {"name": "f", "version": "1"},
              "tools": [{"name": "flood", "inputSchema": {"type": "object"}}]}
    note = {"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 1, "progress": 1}}
    with open(sys.argv[1], "w") as count:
        while message["method"] == "tools/call":
            print(json.dumps(note), flush=True)
            count.write(".")
            count.flush()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_a_server_that_floods_is_read_at_a_pace_and_leaves_the_loop_to_others(
    tmp_path: Path,
) -> None:
    counted = tmp_path / "count"
    command = {"command": sys.executable, "args": ["-c", FLOOD, str(counted)]}
    seconds = 4

    async def go(fine: JSON) -> list[str]:
        async with opened(s={"transport": "stdio", **command}, fine=fine) as tools:
            flood = asyncio.create_task(tools["flood"].ainvoke(call_of("flood")))
            said = []
            for _ in range(2 * seconds):
                await asyncio.sleep(0.5)
                said.append((await tools["quiet"].ainvoke(call_of("quiet"))).content)
            flood.cancel()
            await asyncio.gather(flood, return_exceptions=True)
            return said

    with ToolServer([tool("quiet")], lambda *_: "fine") as fine:
        began = time.monotonic()
        said = asyncio.run(go(fine.template))
        taken = time.monotonic() - began

    assert said == ["fine"] * 2 * seconds
    in_pipes = 5_000  # what is not read at a pace is a hundred thousand
    allowed = MESSAGES_AT_ONCE + taken * MESSAGES_A_SECOND + in_pipes
    assert MESSAGES_AT_ONCE < counted.stat().st_size < allowed


def test_a_pace_lets_a_number_through_at_once_and_then_makes_wait() -> None:
    async def go() -> list[float]:
        pace, began, taken = Pace(at_once=10, a_second=100), time.monotonic(), []
        for count in (10, 20, 20):
            await pace.keep(count)
            taken.append(time.monotonic() - began)
        return taken

    at_once, later, last = asyncio.run(go())

    assert later >= 0.19 and last >= 0.39 and at_once < later


@pytest.mark.security
@pytest.mark.parametrize("way", ["a process", "the call's stream"])
def test_many_messages_are_taken_though_slowly_in_the_end(way: str) -> None:
    with asking(way) as template:
        assert within(60, template, "flood", count=1_500) == "flooded"
