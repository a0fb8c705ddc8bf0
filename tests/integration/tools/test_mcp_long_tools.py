"""Tools that take their time or point elsewhere: tasks, progress, and what results link to."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.lowlevel.server import request_ctx
from mcp.types import CallToolResult, ResourceLink, TextContent
from pydantic import TypeAdapter

from backend.schemas.domains.templates import McpServer
from backend.tools.context import CALL_ID
from backend.tools.mcp.connection.cancel import CANCEL_SECONDS
from backend.tools.mcp.connection.progress import MAX_CHARS, ProgressLine
from backend.tools.mcp.servers import open_mcp_tools
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.integration.tools.mcp_calls import call_of, opened
from tests.runs import ALLOWED
from tests.servers.tool import ToolServer, task_tool, text_result, tool
from tests.servers.wire import WireServer
from tests.stack import Stack

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(100)
LONG = "A line of a long report.\n" * 4_000
RESOURCES = {
    "notes://plan": [ReadResourceContents("Ship it.", "text/plain")],
    "notes://picture.png": [ReadResourceContents(PICTURE, "image/png")],
    "notes://report.txt": [ReadResourceContents(LONG, "text/plain")],
}


class Tasks:
    """What tools do that are run as tasks; `cancelled` once one was given up by who asked."""

    def __init__(self) -> None:
        self.has_begun = False
        self.cancelled: list[str] = []

    async def answer(self, name: str, task: Any) -> CallToolResult:
        if name == "fail":
            raise ValueError("no such period")
        if name == "refuse":
            return text_result("not in this month", is_error=True)
        await task.update_status("Reading 2 of 7")
        self.has_begun = True
        while name == "wait":
            stored = await task._store.get_task(task.task_id)
            if stored.status == "cancelled":
                self.cancelled.append(name)
                return text_result("cancelled")
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.8)
        return text_result("closed")


def link(uri: str, **fields: Any) -> ResourceLink:
    return ResourceLink(type="resource_link", name=uri.partition("://")[2], uri=uri, **fields)


async def answer(name: str, arguments: dict[str, Any]) -> CallToolResult:
    if name == "count":
        asked = request_ctx.get()
        assert asked.meta is not None and asked.meta.progressToken is not None
        for number in range(1, 201):
            await asked.session.send_progress_notification(
                asked.meta.progressToken, number, 200, f"Row\n{number}", str(asked.request_id)
            )
        await asyncio.sleep(arguments.get("seconds", 0.7))
        return text_result("counted")
    links = [link(uri) for uri in arguments["uris"]]
    return CallToolResult(content=[TextContent(type="text", text="See:"), *links])


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with ToolServer([tool("count"), tool("link")], answer, resources=RESOURCES) as running:
        yield running


def call(server: ToolServer, name: str, **arguments: Any) -> tuple[ToolMessage, list[Any]]:
    """The result of a call, and what was said meanwhile."""
    said: list[Any] = []

    async def go() -> Any:
        servers = {"s": TypeAdapter(McpServer).validate_python(server.template)}
        on_progress: Callable[[str, str], None] = lambda *one: said.append(one)  # noqa: E731
        async with open_mcp_tools(servers, allowed=ALLOWED, on_progress=on_progress) as served:
            chosen = next(each for each in served.tools if each.name == name)
            asked = {"name": name, "args": arguments, "id": "c1", "type": "tool_call"}
            CALL_ID.set("c1")  # as the middleware around tools does
            return await chosen.ainvoke(asked)

    return asyncio.run(go()), said


def test_a_tool_that_is_run_as_a_task_gives_its_result() -> None:
    tasks = Tasks()
    names = ("close", "fail", "refuse")
    with ToolServer([task_tool(name) for name in names], tasks.answer) as server:
        closed, said = call(server, "close")
        failed, _ = call(server, "fail")
        refused, _ = call(server, "refuse")

    assert (closed.content, closed.status) == ("closed", "success")
    assert ("c1", "Reading 2 of 7") in said
    assert failed.status == "error" and "no such period" in failed.content
    assert (refused.content, refused.status) == ("not in this month", "error")


def test_a_task_that_nobody_waits_for_is_cancelled(stack: Stack) -> None:
    tasks = Tasks()
    with ToolServer([task_tool("wait")], tasks.answer) as server:
        domain = make_domain(stack, mcp_servers={"s": server.template})
        session_id = make_session(stack, domain["id"])
        asked = stack.submit(script({"tools": [{"name": "wait"}]}, {"text": "x"}), session_id)
        with stack.events(session_id) as events:
            progress = next(e for e in events if e["event"] == "progress")
        stack.client.post(f"/turns/{asked['turn_id']}/stop")
        turn = stack.finished(asked["turn_id"])
        while not tasks.cancelled:
            time.sleep(0.02)

    assert turn["status"] == "stopped"
    said = progress["data"]
    assert (said["state"], said["text"]) == ("running_tool", "Reading 2 of 7")
    rows = stack.messages(session_id)
    (called,) = [row for row in rows if row["content_type"] == "tool_call"]
    assert said["call_id"] == called["content"]["call_id"]


def test_a_task_whose_server_is_gone_is_not_run_a_second_time() -> None:
    tasks = Tasks()
    with ToolServer([task_tool("wait")], tasks.answer) as server:

        def end_when_begun() -> None:
            while not tasks.has_begun:
                time.sleep(0.01)
            server.stop()

        ending = threading.Thread(target=end_when_begun)
        ending.start()
        result, _ = call(server, "wait")
        ending.join()

    assert result.status == "error"
    assert "may or may not have taken effect" in result.content
    assert [name for name, _ in server.calls] == ["wait"]


def test_a_server_hears_that_a_person_has_stopped_its_call(stack: Stack) -> None:
    with WireServer("hang") as server:
        domain = make_domain(stack, mcp_servers={"s": server.template})
        session_id = make_session(stack, domain["id"])
        asked = stack.submit(script({"tools": [{"name": "say"}]}, {"text": "x"}), session_id)
        stack.wait_for(lambda: server.calls, "the tool is not called")
        stack.client.post(f"/turns/{asked['turn_id']}/stop")
        turn = stack.finished(asked["turn_id"])
        stack.wait_for(lambda: "DELETE" in server.methods, "the session does not end")

    assert turn["status"] == "stopped"
    assert server.cancelled == server.calls


async def cancel_when_called(server: WireServer, say: Any) -> float:
    """Cancel a call that the server has received; how long that took."""
    call = asyncio.create_task(say.ainvoke(call_of("say")))
    while not server.calls:
        await asyncio.sleep(0.02)
    began = time.monotonic()
    call.cancel()
    await asyncio.wait({call})
    return time.monotonic() - began


def test_a_server_that_refuses_a_cancellation_keeps_its_connection() -> None:
    async def go(server: WireServer) -> list[str]:
        async with opened(s=server.template) as tools:
            await cancel_when_called(server, tools["say"])
            fine = [tools["say"].ainvoke(call_of("say", fine=True)) for _ in range(3)]
            return [result.content for result in await asyncio.gather(*fine)]

    with WireServer("hang") as server:
        said = asyncio.run(go(server))

    assert said == ["fine"] * 3
    assert server.cancelled == server.calls[:1]
    assert server.methods.count("DELETE") == 1


def test_a_child_process_ends_the_work_that_nobody_waits_for() -> None:
    template = {"transport": "stdio", "command": sys.executable, "args": ["tests/servers/tool.py"]}

    async def go() -> str:
        async with opened(s={**template, "call_seconds": 5}) as tools:
            late = await tools["wait"].ainvoke(call_of("wait", n=1))
            assert "has not answered within 5 seconds" in late.content
            heard = await tools["cancelled"].ainvoke(call_of("cancelled"))
            return str(heard.content)

    assert asyncio.run(go()) == "[{'n': 1}]"


def test_a_server_that_reads_no_cancellation_delays_nothing_and_leaves_no_task() -> None:
    async def go(server: WireServer) -> tuple[float, float]:
        async with opened(s=server.template) as tools:
            stopped = await cancel_when_called(server, tools["say"])
            began = time.monotonic()
        closed = time.monotonic() - began
        async with asyncio.timeout(30):
            while len(asyncio.all_tasks()) > 1:
                await asyncio.sleep(0.1)
        return stopped, closed

    with WireServer("deaf") as server:
        stopped, closed = asyncio.run(go(server))

    assert server.cancelled == server.calls
    assert stopped < CANCEL_SECONDS
    assert closed < CANCEL_SECONDS


def test_progress_is_told_in_few_short_lines(server: ToolServer) -> None:
    result, said = call(server, "count")

    assert result.content == "counted"
    assert {call_id for call_id, _ in said} == {"c1"}
    assert said[-1] == ("c1", "Row 200 (200 of 200)")
    assert len(said) < 20


def test_a_line_of_progress_is_bounded() -> None:
    said: list[str] = []

    async def go() -> None:
        line = ProgressLine(said.append, str)
        await line.count(1, None, None)
        await line.count(float("nan"), float("inf"), "x\x00\ud800" * 1_000_000)
        line.close()
        other = ProgressLine(said.append, str)
        await other.count(2, 0, "y " * 1_000_000)
        await other.count(2, 0, "y " * 1_000_000)
        other.close()

    asyncio.run(go())

    assert said[0] == "1"
    assert len(said) == 2
    assert len(said[1]) <= MAX_CHARS


def test_what_a_result_links_to_is_read_from_its_server(server: ToolServer) -> None:
    result, _ = call(server, "link", uris=["notes://plan", "notes://picture.png"])

    assert result.content.splitlines() == [
        "See:",
        "[link plan notes://plan]",
        "Ship it.",
        "[link picture.png notes://picture.png]",
        "[image picture.png image/png, 108 bytes: shown to people, you cannot see it]",
    ]
    (picture,) = result.artifact["attachments"]
    assert (picture["name"], picture["bytes"]) == ("picture.png", 108)
    assert [link["uri"] for link in result.artifact["links"]] == [
        "notes://plan",
        "notes://picture.png",
    ]


def test_a_long_resource_is_cut_for_the_model_and_whole_for_people(server: ToolServer) -> None:
    result, _ = call(server, "link", uris=["notes://report.txt"])

    assert len(result.content) < 21_000
    assert f"[cut here: report.txt has {len(LONG):,} characters, all of it in a file]" in (
        result.content
    )
    (whole,) = result.artifact["attachments"]
    assert whole["bytes"] == len(LONG)


def test_a_link_that_leads_nowhere_says_so(server: ToolServer) -> None:
    result, _ = call(server, "link", uris=["notes://gone", *["notes://plan"] * 6])

    assert result.status == "success"
    assert "[gone: it could not be read." in result.content
    assert result.content.count("Ship it.") == 4
    assert result.content.count("[link plan notes://plan]") == 6
    assert "[2 more links not opened: at most 5 per result]" in result.content


def test_links_of_a_server_without_resources_stay_links() -> None:
    with ToolServer([tool("link")], answer) as server:
        result, _ = call(server, "link", uris=["https://example.org/r.pdf"])

    assert result.content == "See:\n[link example.org/r.pdf https://example.org/r.pdf]"
