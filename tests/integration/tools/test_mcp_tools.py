"""Tools of MCP servers are called as the model asks, and what they say arrives as it was said."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from langchain_core.messages import ToolMessage
from mcp.types import CallToolResult, ImageContent, TextContent

from backend.domains.secrets import Secrets, expand_secrets
from backend.errors.domains import SecretForbidden, SecretMissing
from backend.tools.mcp.servers import open_mcp_tools
from tests.fakes import ScriptedModel
from tests.integration.tools.mcp_calls import servers
from tests.runs import ALLOWED, asking, final_state, run, steps
from tests.servers.tool import ToolServer, text_result, tool

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
def test_arguments_pass_as_the_model_gave_them(arguments):
    says = [{"tools": [{"name": "any", "args": arguments}]}, {"text": "."}]
    with ToolServer([tool("any")], answer) as server, ScriptedModel(says) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": server.template})

    assert server.calls[-1] == ("any", arguments)
    assert steps(events)[1].messages[0]["content"] == f"any {json.dumps(arguments)}"


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

    assert asyncio.run(names()) == ["pick", "echo", "child__echo", "die", "wait", "cancelled"]
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
            async with open_mcp_tools(servers(m=mortal.template), allowed=ALLOWED) as served:
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
