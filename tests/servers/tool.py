"""A scripted MCP server: over HTTP in a thread, or over stdio as `python tests/servers/tool.py`."""

import asyncio
import contextlib
import inspect
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import (
    CallToolResult,
    Resource,
    TextContent,
    Tool,
    ToolAnnotations,
    ToolExecution,
)
from starlette.applications import Starlette
from starlette.responses import RedirectResponse
from starlette.routing import Mount

JSON = dict[str, Any]  # of its own: as a program it finds no other module of the project
ANY_ARGUMENTS: JSON = {"type": "object", "properties": {}}


def text_result(*texts: str, is_error: bool = False) -> CallToolResult:
    """Return a result of text blocks."""
    blocks = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=list(blocks), isError=is_error)


def tool(
    name: str, schema: JSON = ANY_ARGUMENTS, description: str = "A tool.", **hints: bool
) -> Tool:
    """Return the description of a tool; `hints` are its annotations, such as readOnlyHint."""
    annotations = ToolAnnotations(**hints) if hints else None
    return Tool(name=name, description=description, inputSchema=schema, annotations=annotations)


def task_tool(name: str) -> Tool:
    """Return the description of a tool that is run as a task only."""
    return tool(name).model_copy(update={"execution": ToolExecution(taskSupport="required")})


def build_server(
    tools: Sequence[Tool],
    answer: Callable[[str, JSON], Any],
    metas: list[JSON] | None = None,
    asked: list[tuple[str, str]] | None = None,
    resources: Mapping[str, Any] | None = None,
) -> Server:
    """Return a server whose tools all answer by `answer(name, arguments)`, which may be async.

    `metas` gets the `_meta` of each call; `asked` who asked what: session and method. `resources`:
    by their addresses the contents that can be read. A task is answered by `answer(name, task)`.
    """
    server: Server = Server("scripted")
    tasks = {each.name for each in tools if each.execution}
    if tasks:
        server.experimental.enable_tasks()
    if resources is not None:
        _serve_resources(server, resources)

    def note(method: str) -> None:
        if asked is not None and (request := server.request_context.request):
            asked.append((request.headers.get("mcp-session-id", ""), method))

    @server.list_tools()
    async def list_tools() -> list[Tool]:
        note("tools/list")
        return list(tools)

    @server.call_tool(validate_input=False)
    async def call_tool(name: str, arguments: JSON) -> Any:
        note("tools/call")
        if name in tasks:
            asking = server.request_context.experimental
            asking.validate_task_mode("required")
            return await asking.run_task(lambda task: answer(name, task))
        if metas is not None:
            meta = server.request_context.meta
            metas.append(dict(meta.model_extra or {}) if meta else {})
        result = answer(name, arguments)
        result = await result if inspect.isawaitable(result) else result
        return text_result(result) if isinstance(result, str) else result

    return server


def _serve_resources(server: Server, resources: Mapping[str, Any]) -> None:
    @server.list_resources()
    async def list_resources() -> list[Resource]:
        return [Resource(uri=uri, name=uri) for uri in resources]

    @server.read_resource()
    async def read_resource(uri: Any) -> Any:
        return resources[str(uri)]


class ToolServer:
    """The server over streamable HTTP, in a thread; `calls` holds what was called, and when.

    Mounted at `/mcp`, it answers `/mcp` with a redirect to `/mcp/`; `moved_to`: all with one there.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        answer: Callable[[str, Any], Any],
        port: int = 0,
        resources: Mapping[str, Any] | None = None,
        mount: str = "/",
        moved_to: str = "",
        host: str = "127.0.0.1",
    ) -> None:
        self.tools = list(tools)  # what it lists; a test may change it
        self.calls: list[tuple[str, JSON]] = []
        self.metas: list[JSON] = []
        self.asked: list[tuple[str, str]] = []
        self.started_at: list[float] = []
        self.ended_at: list[float] = []
        self._answer = answer
        # Named as TCP, else asyncio leaves Nagle on and each answer waits 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((host, port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{host}:{self.port}/mcp"
        manager = StreamableHTTPSessionManager(
            build_server(self.tools, self._record, self.metas, self.asked, resources)
        )

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with manager.run():
                yield

        served = RedirectResponse(moved_to) if moved_to else manager.handle_request
        app = Starlette(routes=[Mount(mount, served)], lifespan=lifespan)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), daemon=True
        )

    @property
    def template(self) -> JSON:
        """How a domain names this server."""
        return {"transport": "streamable_http", "url": self.url}

    def __enter__(self) -> "ToolServer":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server, open connections and all."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(timeout=5)
        self._socket.close()

    async def _record(self, name: str, arguments: JSON) -> Any:
        self.calls.append((name, arguments))
        self.started_at.append(time.monotonic())
        result = self._answer(name, arguments)
        result = await result if inspect.isawaitable(result) else result
        self.ended_at.append(time.monotonic())
        return result


async def _serve_stdio() -> None:
    tools = [tool("echo"), tool("die"), tool("wait"), tool("cancelled")]
    cancelled: list[JSON] = []

    async def answer(name: str, arguments: JSON) -> str:
        if name == "die":
            os._exit(1)
        if name == "cancelled":
            return f"{cancelled}"
        if name == "wait":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(arguments)
                raise
        return f"echo {arguments}"

    server = build_server(tools, answer)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_serve_stdio())
