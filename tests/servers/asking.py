"""A tool server that asks its client, without looking at what that can do: HTTP, or a process."""

import asyncio
import sys
from typing import Any

from mcp import McpError, types
from mcp.server.lowlevel.server import request_ctx
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel

from backend.types import JSON
from tests.servers.tool import ToolServer, build_server, tool

MESSAGE = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Who?"))
PARAMS = types.CreateMessageRequestParams(messages=[MESSAGE], maxTokens=9)
ELICIT = types.ElicitRequestFormParams(message="Which?", requestedSchema={"type": "object"})
REQUESTS: dict[str, Any] = {
    "sampling": types.CreateMessageRequest(params=PARAMS),
    "roots": types.ListRootsRequest(),
    "elicitation": types.ElicitRequest(params=ELICIT),
    "ping": types.PingRequest(),
}
TOOLS = [tool(name) for name in (*REQUESTS, "unknown", "many", "flood", "say")]
TEMPLATE: JSON = {
    "transport": "stdio",
    "command": sys.executable,
    "args": ["-m", "tests.servers.asking"],
}


class Unknown(BaseModel):
    """A request of a method that nobody has heard of."""

    method: str = "colloquy/unheard"


async def answer(name: str, arguments: JSON) -> str:
    """Ask, and tell what came of it. `within`: in the stream of the call's own answer."""
    if name == "say":
        return "said"
    if name == "flood":
        return await _flood(arguments["count"])
    if name == "many":
        said = [await _ask(REQUESTS["roots"], arguments) for _ in range(arguments["count"])]
        return said[-1]
    return await _ask(REQUESTS.get(name, Unknown()), arguments)


async def _ask(request: Any, arguments: JSON) -> str:
    context = request_ctx.get()
    within = ServerMessageMetadata(related_request_id=context.request_id)
    metadata = within if arguments.get("within") else None
    try:
        await context.session.send_request(request, types.EmptyResult, metadata=metadata)
    except McpError as error:
        return f"refused: {error.error.message}"
    return "answered"


async def _flood(count: int) -> str:
    context = request_ctx.get()
    for number in range(count):
        await context.session.send_progress_notification(
            "nobody's", number, related_request_id=str(context.request_id)
        )
    return "flooded"


def over_http() -> ToolServer:
    """The server over HTTP, in a thread."""
    return ToolServer(TOOLS, answer)


async def _serve() -> None:
    server = build_server(TOOLS, answer)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_serve())
