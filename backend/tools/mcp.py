"""Tools of MCP servers, opened for one run: words pass both ways exactly as they were said."""

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from langchain_mcp_adapters.sessions import Connection, create_session
from mcp import ClientSession
from mcp.shared.exceptions import McpError
from mcp.types import (
    CONNECTION_CLOSED,
    CallToolResult,
    EmbeddedResource,
    TextContent,
    TextResourceContents,
    Tool,
)
from pydantic import PrivateAttr

from backend.errors import SecretMissing, ToolServerUnavailable
from backend.schemas import JSON, McpServer, StdioServer

CONNECT_SECONDS = 10.0
CALL_SECONDS = 300.0
CLOSE_SECONDS = 0.5
MAX_NAME = 64

_SECRET = re.compile(r"\$\{(\w+)\}")
_NOT_IN_NAMES = re.compile(r"[^\w-]", re.ASCII)
_closing: set[asyncio.Task[None]] = set()

logger = logging.getLogger(__name__)


def expand_secrets(server: McpServer, environ: Mapping[str, str] = os.environ) -> McpServer:
    """Return the server with each `${NAME}` replaced; SecretMissing names one that is not set."""

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in environ:
            raise SecretMissing(f"The environment variable {match[1]} is not set for the worker.")
        return environ[match[1]]

    def expand(value: Any) -> Any:
        if isinstance(value, str):
            return _SECRET.sub(value_of, value)
        if isinstance(value, dict):
            return {key: expand(item) for key, item in value.items()}
        return [expand(item) for item in value] if isinstance(value, list) else value

    return type(server)(**expand(server.model_dump()))


@contextlib.asynccontextmanager
async def open_mcp_tools(
    servers: Mapping[str, McpServer], *, connect_seconds: float = CONNECT_SECONDS
) -> AsyncGenerator[list[BaseTool], None]:
    """Connect to all servers at once and give their tools; each session lasts for the block.

    Raises SecretMissing before anything is opened, ToolServerUnavailable naming a dead server.
    A later server's tool whose name is taken is called `server__tool`.
    """
    expanded = {name: expand_secrets(server) for name, server in servers.items()}
    connections = [_Server(name, server) for name, server in expanded.items()]
    try:
        listed = await asyncio.gather(*(c.connect(connect_seconds) for c in connections))
        yield _name_tools(dict(zip(connections, listed, strict=True)))
    finally:
        await _close_all(connections)


class _Server:
    """One server's session. A task of its own opens and closes it, as anyio demands."""

    def __init__(self, name: str, server: McpServer) -> None:
        self.name = name
        self._connection = _connection(server)
        self._ready: asyncio.Future[list[Tool]] = asyncio.get_running_loop().create_future()
        self._session: ClientSession | None = None
        self._close = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def connect(self, seconds: float) -> list[Tool]:
        self.task = asyncio.create_task(self._keep_open())
        waited: set[asyncio.Future[Any]] = {self.task, self._ready}
        await asyncio.wait(waited, timeout=seconds, return_when="FIRST_COMPLETED")
        if self._ready.done() and not self._ready.cancelled():
            return self._ready.result()
        raise ToolServerUnavailable(
            f"The tool server {self.name!r} could not be reached. "
            "Check that it runs, then press Retry."
        )

    async def call(self, tool: str, arguments: JSON) -> CallToolResult:
        """Call a tool; a server that dies meanwhile ends the call at once."""
        if self.task is None or self._session is None or self.task.done():
            raise self._lost()
        limit = timedelta(seconds=CALL_SECONDS)
        call = asyncio.ensure_future(self._session.call_tool(tool, arguments, limit))
        try:
            waited: set[asyncio.Future[Any]] = {call, self.task}
            await asyncio.wait(waited, return_when="FIRST_COMPLETED")
            if call.done():
                return call.result()
            raise self._lost()
        except McpError as error:
            if error.error.code == CONNECTION_CLOSED:
                raise self._lost() from error
            raise ToolException(f"The tool server {self.name!r} says: {error}") from error
        finally:
            call.cancel()

    def close(self) -> None:
        """Ask the session's task to end; one that has not connected yet is cancelled."""
        self._close.set()
        if self.task is not None and self._session is None:
            self.task.cancel()

    def _lost(self) -> ToolException:
        return ToolException(f"The tool server {self.name!r} has broken the connection.")

    async def _keep_open(self) -> None:
        try:
            async with create_session(self._connection) as session:
                await session.initialize()
                tools = await _list_tools(session)
                self._session = session
                self._ready.set_result(tools)
                await self._close.wait()
        except Exception as error:  # noqa: BLE001  # an edge: the connection's end is its news
            fields = {"server": self.name, "error": type(error).__name__}
            logger.warning("tool server lost", extra=fields)


class McpTool(BaseTool):
    """A server's tool. Arguments and results pass as they are; an error result is an error."""

    response_format: str = "content_and_artifact"  # type: ignore[assignment]  # one of its literals
    handle_tool_error: bool = True
    _server: _Server = PrivateAttr()
    _remote_name: str = PrivateAttr()

    @classmethod
    def of(cls, server: _Server, tool: Tool, name: str) -> "McpTool":
        """Return the tool under the name by which the model calls it."""
        made = cls(name=name, description=tool.description or "", args_schema=tool.inputSchema)
        made._server, made._remote_name = server, tool.name
        return made

    def _run(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        raise NotImplementedError("MCP tools are called on the event loop")

    async def _arun(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        result = await self._server.call(self._remote_name, arguments)
        text = "\n".join(_text(block) for block in result.content)
        if result.isError:
            raise ToolException(text)
        return text, _artifact(result, text)


def _connection(server: McpServer) -> Connection:
    if isinstance(server, StdioServer):
        return {
            "transport": "stdio",
            "command": server.command,
            "args": server.args,
            "env": server.env or None,
        }
    return {
        "transport": "streamable_http",
        "url": server.url,
        "headers": server.headers,
        "sse_read_timeout": CALL_SECONDS,
    }


async def _list_tools(session: ClientSession) -> list[Tool]:
    page = await session.list_tools()
    tools = list(page.tools)
    while page.nextCursor:
        page = await session.list_tools(page.nextCursor)
        tools += page.tools
    return tools


def _name_tools(listed: Mapping[_Server, list[Tool]]) -> list[BaseTool]:
    named: dict[str, BaseTool] = {}
    for server, tools in listed.items():
        for tool in tools:
            name = _NOT_IN_NAMES.sub("_", tool.name)[:MAX_NAME]
            if name in named:
                name = _NOT_IN_NAMES.sub("_", f"{server.name}__{tool.name}")[:MAX_NAME]
            named[name] = McpTool.of(server, tool, name)
    return list(named.values())


async def _close_all(servers: list[_Server]) -> None:
    """Close all sessions; one that takes its time goes on closing without anyone waiting."""
    tasks = {server.task for server in servers if server.task is not None}
    for server in servers:
        server.close()
    _closing.update(tasks)
    for task in tasks:
        task.add_done_callback(_closing.discard)
    if tasks:
        await asyncio.wait(tasks, timeout=CLOSE_SECONDS)


def _text(block: Any) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
        return block.resource.text
    kind = getattr(block, "mimeType", None) or getattr(block, "uri", None) or ""
    return f"[{block.type} {kind}: not shown to the model]"


def _artifact(result: CallToolResult, text: str) -> JSON | None:
    """Return the structured content, unless it only wraps the text."""
    structured = result.structuredContent
    if not structured or structured == {"result": text}:
        return None
    return {"kind": "structured", "content": structured}
