"""What is made of very many parts costs the call that gave it, and is not read on the loop."""

import sys

from tests.integration.tools.mcp_calls import TALKER, ask
from tests.servers.tool import ToolServer, tool

MANY = "'[' + '0,' * 300_000 + '0]'"


def test_a_child_process_that_sends_too_many_parts_fails_the_call():
    program = f"LISTED = ['say']\nTEXT = {MANY}\n{TALKER}"

    result, _ = ask({"transport": "stdio", "command": sys.executable, "args": ["-c", program]})

    assert result.status == "error"
    assert "cannot be read" in result.content


def test_a_tool_with_an_unusable_schema_is_left_out_and_others_are_used():
    odd = tool("odd", {"type": "object", "properties": ["a"]})

    with ToolServer([odd, tool("say")], lambda *_: "said") as server:
        result, _ = ask(server.template, "say")

    assert result.content == "said"
