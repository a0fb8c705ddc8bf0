import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage
from mcp.types import CallToolResult, ImageContent, TextContent
from pydantic import TypeAdapter

from backend.domains.secrets import Secrets, expand_secrets
from backend.errors.domains import SecretForbidden, SecretMissing
from backend.schemas.domains.templates import McpServer
from backend.tools.mcp.health import GRACE_SECONDS, ServerHealth
from backend.tools.mcp.servers import open_mcp_tools
from tests.fakes import ScriptedModel
from tests.runs import ALLOWED, asking, final_state, run, steps
from tests.servers.tool import ToolServer, text_result, tool
from tests.servers.wire import WireServer

STDIO = {
    "transport": "stdio",
    "command": sys.executable,
    "args": [str(Path(__file__).parents[2] / "servers" / "tool.py")],
    "connect_seconds": 120,  # on a busy machine a process takes its time
}
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "default": 3}, "config": {"type": "string"}},
    "required": ["n"],
    "additionalProperties": False,
    "$defs": {"unused": {"type": "null"}},
}
SAYS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
IMAGE = ImageContent(type="image", data="AAAA", mimeType="image/png")
TABLE = {"rows": [[1, 2]]}
RESULTS = {
    "plain": text_result("Error: it looks like one, but is none"),
    "empty": CallToolResult(content=[]),
    "blank": text_result(""),
    "two": text_result("one", "two"),
    "wide": text_result("  ünï\n\t文 \n"),
    "failed": text_result("no such row", is_error=True),
    "failed silently": CallToolResult(content=[], isError=True),
    "picture": CallToolResult(content=[IMAGE]),
    "structured": CallToolResult(
        content=[TextContent(type="text", text="t")], structuredContent=TABLE
    ),
    "wrapped": CallToolResult(
        content=[TextContent(type="text", text="t")], structuredContent={"result": "t"}
    ),
    "dirty": text_result("a\x00b"),
}


def servers(**templates):
    return {n: TypeAdapter(McpServer).validate_python(t) for n, t in templates.items()}


async def answer(name, arguments):
    await asyncio.sleep(arguments.get("seconds", 0))
    if name == "pick":
        return RESULTS[arguments["which"]]
    return f"{name} {json.dumps(arguments)}"


@pytest.fixture(scope="module")
def server():
    with ToolServer([tool("pick"), tool("echo", SCHEMA, "Says it again.")], answer) as running:
        yield running


def call_once(name, arguments, **templates):
    async def go():
        async with open_mcp_tools(servers(**templates), allowed=ALLOWED) as served:
            chosen = next(t for t in served.tools if t.name == name)
            call = {"name": name, "args": arguments, "id": "c", "type": "tool_call"}
            return await chosen.ainvoke(call)

    message = asyncio.run(go())
    assert isinstance(message, ToolMessage)
    return message


@pytest.mark.parametrize(
    ("which", "content", "status"),
    [
        ("plain", "Error: it looks like one, but is none", "success"),
        ("empty", "", "success"),
        ("blank", "", "success"),
        ("two", "one\ntwo", "success"),
        ("wide", "  ünï\n\t文 \n", "success"),
        ("failed", "no such row", "error"),
        ("failed silently", "", "error"),
        ("picture", "[image image/png, 3 bytes: shown to people, you cannot see it]", "success"),
        ("structured", "t", "success"),
    ],
)
def test_a_result_is_plain_text_exactly_as_it_was_said(server, which, content, status):
    message = call_once("pick", {"which": which}, s=server.template)

    assert (message.content, message.status) == (content, status)


def test_structured_content_is_the_artifact_unless_it_only_wraps_the_text(server):
    structured = call_once("pick", {"which": "structured"}, s=server.template)
    wrapped = call_once("pick", {"which": "wrapped"}, s=server.template)

    assert structured.artifact == {"kind": "content", "structured": TABLE, "attachments": []}
    assert wrapped.artifact is None


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"n": "3", "unknown": [None, {"deep": 1.5}]},
        {"config": "c", "run_manager": 1, "self": 2, "runtime": 3, "callbacks": 4, "args": [5]},
        {"tool_call_id": "x", "state": {}, "input": 1, "kwargs": {}, "tool_input": 9},
    ],
)
def test_arguments_pass_as_the_model_gave_them(server, arguments):
    with ScriptedModel([{"tools": [{"name": "echo", "args": arguments}]}, {"text": "."}]) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": server.template})

    assert server.calls[-1] == ("echo", arguments)
    assert steps(events)[1].messages[0]["content"] == f"echo {json.dumps(arguments)}"


def test_the_model_sees_the_schema_unchanged(server):
    with ScriptedModel([{"text": "."}]) as model:
        run(model.url, asking("go"), mcp_servers={"s": server.template})

    function = model.requests[0]["tools"][1]["function"]
    assert function == {"name": "echo", "description": "Says it again.", "parameters": SCHEMA}


def test_a_dirty_result_enters_the_state_clean(server):
    script = [{"tools": [{"name": "pick", "args": {"which": "dirty"}}]}, {"text": "."}]
    with ScriptedModel(script) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": server.template})

    assert final_state(events)["messages"][2]["content"] == "a\u2400b"


def test_a_child_process_serves_tools_too_and_two_of_one_name_are_told_apart(server):
    both = servers(http=server.template, child=STDIO)

    async def names():
        async with open_mcp_tools(both, allowed=ALLOWED) as served:
            return [t.name for t in served.tools]

    assert asyncio.run(names()) == ["pick", "echo", "child__echo", "die"]
    assert call_once("child__echo", {"a": 1}, h=server.template, child=STDIO).content == (
        "echo {'a': 1}"
    )


def test_a_server_that_dies_in_a_call_gives_an_error_result_at_once():
    began = time.monotonic()
    message = call_once("die", {}, child=STDIO)

    assert message.status == "error"
    assert "'child' has broken the connection" in message.content
    assert time.monotonic() - began < 25


def test_an_http_server_that_dies_between_calls_gives_an_error_result_at_once():
    async def go():
        with ToolServer([tool("echo")], answer) as mortal:
            async with open_mcp_tools(servers(m=mortal.template)) as served:
                (echo,) = served.tools
                call = {"name": "echo", "args": {}, "id": "c", "type": "tool_call"}
                await echo.ainvoke(call)
                await asyncio.to_thread(mortal.stop)
                return [await echo.ainvoke(call) for _ in range(2)]

    began = time.monotonic()
    results = asyncio.run(go())

    assert [r.status for r in results] == ["error", "error"]
    assert time.monotonic() - began < 25


@pytest.mark.parametrize(
    ("dead", "why"),
    [
        ({"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp"}, "nothing answers"),
        ({"transport": "streamable_http", "url": "nonsense"}, "its url cannot be read"),
        ({"transport": "stdio", "command": "/no/such/program"}, "its command does not exist"),
        ({"transport": "stdio", "command": "/etc/passwd"}, "may not run its command"),
        ({"transport": "stdio", "command": sys.executable, "args": ["-c", "exit(1)"]}, "it ended"),
    ],
)
def test_a_run_goes_on_without_a_dead_server_and_says_why(server, dead, why):
    with ScriptedModel([{"text": "."}]) as model:
        events = run(model.url, asking("go"), mcp_servers={"ok": server.template, "ledger": dead})

    (step,) = steps(events)
    (said,) = step.notices
    assert said.startswith("The tool server ledger is missing: ") and why in said
    assert [t["function"]["name"] for t in model.requests[0]["tools"]] == ["pick", "echo"]


def test_what_is_missing_is_told_beside_what_is_told_once(server):
    dead = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp"}
    both = {"one": server.template, "two": server.template, "dead": dead}
    with ScriptedModel([{"text": "."}]) as model:
        events = run(model.url, asking("go"), mcp_servers=both)

    missing, renamed = steps(events)[0].notices
    assert "dead is missing" in missing and "pick is called two__pick" in renamed


def test_a_status_that_means_failure_is_told():
    with WireServer("status", everything=True) as refusing:
        said, _ = open_with(ServerHealth(), s=refusing.template)

    assert "it answered with the status 500" in said[0] and "sk-canary" not in said[0]


async def open_and_call(health, text, **templates):
    async with open_mcp_tools(servers(**templates), health=health) as served:
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
        async with open_mcp_tools(servers(s=server.template), health=health) as served:
            return [tool.name for tool in served.tools]

    async def one_after_the_other(health):
        first = await listed(health)
        server.tools.append(tool("more"))
        return first, await listed(health)

    with ToolServer([tool("say")], answer) as server:
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


SILENT = {"transport": "stdio", "command": "sleep", "args": ["30"]}


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
    with ToolServer([tool("say")], answer) as server:
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


def test_secrets_are_named_in_the_domain_and_taken_from_the_environment():
    http = {
        "transport": "streamable_http",
        "url": "http://h/${PART}",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
    }
    stdio = {"transport": "stdio", "command": "c", "args": ["${TOKEN}"], "env": {"T": "${TOKEN}"}}
    named = servers(http=http, stdio=stdio)
    environ = {"PART": "p", "TOKEN": "${PART}$x", "OPENAI_API_KEY": "k"}
    secrets = Secrets(("PART@http://h", "TOK*@http://h", "TOK*@stdio"), lambda: environ)

    assert expand_secrets(named["http"], secrets).url == "http://h/p"
    assert expand_secrets(named["http"], secrets).headers == {"Authorization": "Bearer ${PART}$x"}
    assert expand_secrets(named["stdio"], secrets).args == ["${PART}$x"]
    with pytest.raises(SecretMissing, match="TOKEN"):
        expand_secrets(
            named["http"], Secrets(("PART@http://h", "TOK*@http://h"), lambda: {"PART": "p"})
        )
    with pytest.raises(SecretForbidden, match="DOMAIN_SECRETS"):
        expand_secrets(named["http"], Secrets(("PART",), lambda: environ))
