"""A tool server's odd part costs no more than itself: repaired, renamed or left out by name."""

import asyncio
import json
import sys
from typing import Any

import pytest

from backend.tools.mcp.connection.reading import MAX_TOOLS
from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.integration.tools.mcp_calls import ask, opened, talker
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

# A child process that sends PAGES by their cursors, and RESULT for each call, as they are.
PROGRAM = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "raw", "version": "1"}}
    elif method == "tools/list":
        result = PAGES[params.get("cursor")]
    else:
        result = RESULT if RESULT is not None else {
            "content": [{"type": "text", "text": json.dumps(params["arguments"])}]}
    said = {"result": result} if result else {"error": {"code": -32602, "message": "no cursor"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
"""
OUTPUT = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}
ODATA = {
    "type": "object",
    "properties": {"$filter": {"type": "string"}, "l": {"type": "array"}},
    "anyOf": [{"required": ["$filter"]}, {"required": ["l"]}],
}


def raw(pages: dict[str | None, JSON], result: Any = None) -> JSON:
    program = f"PAGES, RESULT = {pages!r}, {result!r}\n{PROGRAM}"
    return {"transport": "stdio", "command": sys.executable, "args": ["-c", program]}


def a_tool(name: Any, schema: Any = None, **more: Any) -> JSON:
    return {"name": name, "inputSchema": schema or {"type": "object"}, **more}


def names_in(template: JSON) -> list[str]:
    async def go() -> list[str]:
        async with opened(s=template) as tools:
            return list(tools)

    return asyncio.run(go())


def test_a_list_whose_cursor_stands_still_ends() -> None:
    page = {"tools": [a_tool("a"), a_tool("b")], "nextCursor": "same"}

    assert names_in(raw({None: page, "same": page})) == ["a", "b"]
    assert names_in(raw({None: page, "same": {}})) == ["a", "b"]  # its own cursor is refused


def test_a_list_without_end_is_used_as_far_as_it_may() -> None:
    listed = [f"t{number}" for number in range(MAX_TOOLS + 1)]

    assert names_in(talker(listed=listed)) == listed[:MAX_TOOLS]


def test_an_address_that_lacks_its_slash_is_found_and_none_of_another_origin() -> None:
    with ToolServer([tool("say")], lambda name, _: name, mount="/mcp") as server:
        result, _ = ask(server.template)
        assert result.content == "say"

    with (
        ToolServer([], lambda name, _: name, moved_to=server.url) as elsewhere,
        pytest.raises(AssertionError, match="redirect to another address"),
    ):
        names_in(elsewhere.template)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"content": [{"type": "text", "text": "42 rows"}]}, "42 rows\n[The structured part"),
        (
            {"content": [{"type": "text", "text": "7"}], "structuredContent": {"rows": "seven"}},
            "7\n[The structured part of this result does not fit the tool's own schema (rows:",
        ),
        ({"content": [], "structuredContent": {"rows": None}}, '{"rows": null}\n[The structured'),
        ({"structuredContent": {"rows": 7}}, '{"rows": 7}'),
        ({"content": "done"}, "done\n[The structured"),
        ({"content": [{"type": "table", "cells": [1]}]}, '{"type": "table", "cells": [1]}\n[The'),
    ],
    ids=["no structure", "misfit", "misfit only", "no text", "no list", "unknown block"],
)
def test_what_a_tool_says_is_kept_if_it_does_not_fit_because_the_tool_has_acted(
    result: JSON, said: str
) -> None:
    template = raw({None: {"tools": [a_tool("say", outputSchema=OUTPUT)]}}, result)

    message, _ = ask(template)

    assert message.status == "success"
    assert message.content.startswith(said)


def test_one_odd_tool_is_repaired_or_left_out_by_name_and_the_others_work(
    stack: Stack, model: ScriptedModel
) -> None:
    tools = [
        a_tool("查询数据", ODATA, description="Finds."),
        a_tool("good"),
        a_tool("bad", {"type": "array"}),
        {"name": "worse", "inputSchema": "none"},
        *(a_tool(f"t{number}") for number in range(127)),
    ]
    domain = make_domain(stack, tools=[], mcp_servers={"s": raw({None: {"tools": tools}})})
    called = {"name": "ChaXunShuJu", "args": {"filter": "a eq 1"}}
    model.steps = [{"tools": [called, {"name": "good"}]}, {"text": "End."}]

    session_id = make_session(stack, domain["name"])
    stack.chat("go", session_id)
    (report,) = stack.client.get(f"/domains/{domain['id']}/servers").json()["items"]

    offered = [one["function"] for one in model.requests[0]["tools"]]
    assert len(offered) == 129
    assert offered[0]["description"] == "Finds.\n\nIt needs filter or l."
    assert offered[0]["parameters"] == {
        "type": "object",
        "properties": {"filter": {"type": "string"}, "l": {"type": "array", "items": {}}},
    }
    rows = stack.messages(session_id)
    results = [m["content"] for m in rows if m["content_type"] == "tool_result"]
    assert [one["content"] for one in results] == [json.dumps({"$filter": "a eq 1"}), "{}"]
    told = " ".join(m["content"]["text"] for m in rows if m["content_type"] == "notice")
    page = " ".join(report["notices"])
    for words in ("bad (its schema", "worse (its description cannot be read: inputSchema:"):
        assert words in told
        assert words in page
    assert "查询数据 is called ChaXunShuJu" in told
    assert "models know $filter as filter" in page
    assert "offers 129 tools" in page
    assert "t126" in page
    assert (report["tools"][0]["name"], report["tools"][0]["called"]) == ("查询数据", "ChaXunShuJu")
