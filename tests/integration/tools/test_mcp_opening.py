"""Runs open their servers once for all, and are not held up by one that does not answer."""

import asyncio
import time

from backend.tools.mcp.health import GRACE_SECONDS, ServerHealth
from backend.tools.mcp.servers import open_mcp_tools
from tests.integration.tools.mcp_calls import SILENT, servers
from tests.runs import ALLOWED
from tests.servers.tool import ToolServer, tool
from tests.servers.wire import WireServer

SAYS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def test_a_status_that_means_failure_is_told():
    with WireServer("status", everything=True) as refusing:
        said, _ = open_with(ServerHealth(), s=refusing.template)

    assert "it answered with the status 500" in said[0] and "sk-canary" not in said[0]


async def open_and_call(health, text, **templates):
    async with open_mcp_tools(servers(**templates), allowed=ALLOWED, health=health) as served:
        called = next(t for t in served.tools if t.name == "say")
        return await called.ainvoke({"text": text})


def test_runs_that_begin_together_ask_for_the_tools_once_and_call_each_in_a_session_of_its_own():
    async def crowd(health):
        runs = (open_and_call(health, f"{n}", s=server.template) for n in range(10))
        return await asyncio.gather(*runs)

    with ToolServer([tool("say", SAYS)], lambda _, arguments: arguments["text"]) as server:
        said = asyncio.run(crowd(ServerHealth()))

    assert said == [f"{n}" for n in range(10)]
    assert [method for _, method in server.asked].count("tools/list") == 1
    assert len({of for of, method in server.asked if method == "tools/call"}) == 10


def test_a_run_that_begins_later_asks_again_and_sees_what_has_changed():
    async def listed(health):
        async with open_mcp_tools(
            servers(s=server.template), allowed=ALLOWED, health=health
        ) as served:
            return [tool.name for tool in served.tools]

    async def one_after_the_other(health):
        first = await listed(health)
        server.tools.append(tool("more"))
        return first, await listed(health)

    with ToolServer([tool("say")], lambda *_: "said") as server:
        first, second = asyncio.run(one_after_the_other(ServerHealth()))

    assert (first, second) == (["say"], ["say", "more"])


def test_runs_that_wait_for_one_that_is_stopped_get_the_tools_all_the_same():
    async def crowd(health):
        first = asyncio.create_task(open_and_call(health, "first", s=server.template))
        await asyncio.sleep(0)
        others = [open_and_call(health, f"{n}", s=server.template) for n in range(3)]
        waiting = asyncio.gather(*others)
        await asyncio.sleep(0)
        first.cancel()
        return await waiting

    with ToolServer([tool("say", SAYS)], lambda _, arguments: arguments["text"]) as server:
        assert asyncio.run(crowd(ServerHealth())) == ["0", "1", "2"]


def open_with(health, *, is_patient=False, **templates):
    """What is said of the servers of a run that only opens them, and how long that took."""

    async def go():
        began = time.monotonic()
        options = {"allowed": ALLOWED, "health": health, "is_patient": is_patient}
        async with open_mcp_tools(servers(**templates), **options) as served:
            return served.warnings, time.monotonic() - began

    return asyncio.run(go())


def test_servers_that_never_answer_are_given_up_at_the_same_time():
    many = {f"s{number}": SILENT for number in range(5)}

    said, taken = open_with(ServerHealth(3), **many)

    assert len(said) == 5
    assert all("did not answer within" in sentence for sentence in said)
    assert taken < 12  # one after the other they would take 15


def test_a_server_that_hung_costs_the_next_turns_of_the_process_nothing():
    clock = Clock()
    health = ServerHealth(3, clock)
    before, _ = open_with(health, silent=SILENT)
    clock.now += 1

    again, taken = open_with(health, silent=SILENT)

    assert again == before
    assert taken < 2


def test_a_server_that_has_always_answered_is_waited_for_where_it_is_slow_this_time():
    """As on a busy machine: a turn without its tools would fail at what it was asked for."""

    def stand_still(_, arguments):
        time.sleep(float(arguments["text"]))
        return "done"

    async def two(health):
        slow = asyncio.create_task(open_and_call(health, f"{GRACE_SECONDS + 1}", s=server.template))
        while not server.calls:
            await asyncio.sleep(0.01)
        return await open_and_call(health, "0", s=server.template), await slow

    with ToolServer([tool("say", SAYS)], stand_still) as server:
        assert asyncio.run(two(ServerHealth())) == ("done", "done")


def test_a_server_that_failed_lately_is_tried_for_a_call_that_was_just_let_run():
    health = ServerHealth(3, Clock())
    with ToolServer([tool("say")], lambda *_: "said") as server:
        (known,) = (one.model_dump_json() for one in servers(s=server.template).values())
        health.failed(known, health.connecting(known), "it was away", 3)
        (said,), _ = open_with(health, s=server.template)
        patient, _ = open_with(health, is_patient=True, s=server.template)

    assert "it was away" in said
    assert patient == ()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now
