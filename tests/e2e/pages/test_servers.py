"""The administrators' page of tool servers, in a browser; what tools gave, in the chat."""

import base64
import re

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.integration.tools.test_mcp_content import PNG
from tests.servers.real import time_server
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

PICTURE = CallToolResult(
    content=[
        TextContent(type="text", text="Drawn."),
        ImageContent(type="image", data=base64.b64encode(PNG).decode(), mimeType="image/png"),
    ]
)


def test_a_server_of_others_is_seen_with_its_tools(desk: Desk, stack: Stack):
    dead = {"transport": "streamable_http", "url": "http://127.0.0.1:1/mcp"}
    domain = make_domain(stack, mcp_servers={"clock": time_server(), "ledger": dead})

    desk.open(f"servers?domain={domain['id']}")

    desk.sees("Answers", "Missing", "get_current_time")
    desk.sees(re.compile("Nothing answers at its address"))


@pytest.mark.journey
def test_a_changed_tool_is_compared_and_accepted(desk: Desk, stack: Stack):
    listed = [tool("say", description="Says it.")]
    with ToolServer(listed, lambda *_: "said") as server:
        server_domain = make_domain(stack, mcp_servers={"s": server.template})
        session_id = make_session(stack, server_domain["id"])
        stack.chat("first", session_id)
        server.tools[0] = tool("say", description="Says it, and more.")
        stack.chat("second", session_id)
        desk.open(f"servers?domain={server_domain['id']}")
        desk.sees("Waiting for a decision", "+Says it, and more.")

        desk.press("Accept")

        expect(desk.main.get_by_text("Waiting for a decision")).to_have_count(0)
        desk.sees("Accepted and refused versions")
        stack.wait_for(lambda: _uses(stack, session_id), "the accepted tool is not used")


def _uses(stack: Stack, session_id: str) -> bool:
    stack.chat(script({"tools": [{"name": "say"}]}, {"text": "."}), session_id)
    results = [r for r in stack.messages(session_id) if r["content_type"] == "tool_result"]
    return bool(results[-1]["content"]["content"] == "said")


def test_a_picture_of_a_tool_is_seen_in_the_chat_and_comes_from_our_own_pages(
    desk: Desk, stack: Stack
):
    with ToolServer([tool("plot")], lambda *_: PICTURE) as server:
        domain = make_domain(stack, mcp_servers={"s": server.template})
        session_id = make_session(stack, domain["id"])
        stack.chat(script({"tools": [{"name": "plot"}]}, {"text": "There."}), session_id)

    desk.open(f"?session={session_id}")

    picture = desk.pictures
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 1)
    assert all(url.startswith((desk.url, "ws:", "data:", "blob:")) for url in desk.requests)
