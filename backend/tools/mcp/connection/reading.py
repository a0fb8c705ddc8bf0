"""Reading what servers list and return, so that one odd part costs no more than itself."""

import json
from typing import Any

from mcp import ClientSession, McpError
from mcp.shared.session import ProgressFnT
from mcp.types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ClientRequest,
    ContentBlock,
    ListToolsRequest,
    PaginatedRequestParams,
    RequestParams,
    Result,
    Tool,
)
from pydantic import TypeAdapter, ValidationError, model_validator

from backend.types import JSON

MAX_TOOLS = 1_000
REST = "(the rest of its list)"
_BLOCK: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)
_NO_SCHEMA: JSON = {"type": "object"}


class UnreadableTool(Tool):
    """A listed tool whose description cannot be read, and why; it is left out by its name."""

    why: str


class _Page(Result):
    """A page of a server's tools as it was sent."""

    tools: list[Any] = []
    nextCursor: Any = None


class AnyResult(CallToolResult):
    """A result, even if parts of it have another form: the tool has acted, so its text is kept."""

    @model_validator(mode="before")
    @classmethod
    def _keep(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        content, structured = given.get("content"), given.get("structuredContent")
        blocks = content if isinstance(content, list) else [] if content is None else [content]
        if structured is not None and not isinstance(structured, dict):
            structured = {"result": structured}
        is_error = given.get("isError") in (True, "true")
        kept = [_readable(block) for block in blocks]
        return {**given, "content": kept, "structuredContent": structured, "isError": is_error}


async def list_tools(session: ClientSession) -> list[Tool]:
    """Return the tools of all pages; from an endless server, a few more than MAX_TOOLS.

    The list ends where its cursor stands still or is refused, or a page repeats tools that were
    listed before.
    """
    tools: list[Tool] = []
    cursors: set[str] = set()
    cursor = None
    while len(tools) <= MAX_TOOLS:
        params = PaginatedRequestParams(cursor=cursor) if cursor else None
        try:
            page = await session.send_request(ClientRequest(ListToolsRequest(params=params)), _Page)
        except McpError as error:
            if not tools:
                raise
            tools.append(_unreadable(REST, f"the server refuses its own cursor: {error}"))
            break
        found = [_tool(one) for one in page.tools]
        known = {tool.name for tool in tools}
        if found and all(tool.name in known for tool in found):
            break
        tools += found
        cursor = str(page.nextCursor or "")
        if not cursor or cursor in cursors:
            break
        cursors.add(cursor)
    return tools


async def call_tool(
    session: ClientSession, tool: str, arguments: JSON, meta: JSON | None, progress: ProgressFnT
) -> CallToolResult:
    """Call a tool; its structured content is not checked, which its caller does elsewhere."""
    sent = RequestParams.Meta(**meta) if meta is not None else None
    params = CallToolRequestParams(name=tool, arguments=arguments, _meta=sent)
    request = ClientRequest(CallToolRequest(params=params))
    return await session.send_request(request, AnyResult, progress_callback=progress)


def _tool(given: Any) -> Tool:
    try:
        return Tool.model_validate(given)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"]))
        name = given.get("name") if isinstance(given, dict) else None
        named = name if isinstance(name, str) and name else "(without a name)"
        return _unreadable(named, f"its description cannot be read: {place}: {fault['msg']}")


def _unreadable(name: str, why: str) -> UnreadableTool:
    return UnreadableTool(name=name, inputSchema=_NO_SCHEMA, why=why)


def _readable(block: Any) -> Any:
    """Return a content block, or the JSON of what is none as a text."""
    try:
        return _BLOCK.validate_python(block)
    except ValidationError:
        text = block if isinstance(block, str) else json.dumps(block, ensure_ascii=False)
        return {"type": "text", "text": text}
