"""Tools of MCP servers, opened for one run: words pass both ways exactly as they were said."""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from mcp.types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents, Tool
from pydantic import PrivateAttr

from backend.domains.secrets import EXPANDED, Secrets
from backend.schemas.domains import McpServer
from backend.schemas.wire import JSON
from backend.tools.journal import IDEMPOTENCY_KEY
from backend.tools.mcp_server import Server
from backend.tools.registry import Effect

CONNECT_SECONDS = 10.0
CALL_SECONDS = 600.0
CLOSE_SECONDS = 0.5
MAX_NAME = 64
MAX_TOLD = 5
NO_SECRETS = Secrets()

Tell = Callable[[str], None]

_NOT_IN_NAMES = re.compile(r"[^\w-]", re.ASCII)
_closing: set[asyncio.Task[None]] = set()


def expand_secrets(server: McpServer, secrets: Secrets) -> McpServer:
    """Return the server with the secrets that it names. Raises SecretMissing, SecretForbidden."""

    def expand(value: Any) -> Any:
        if isinstance(value, str):
            return secrets.expand(value)
        if isinstance(value, dict):
            return {key: expand(item) for key, item in value.items()}
        return [expand(item) for item in value]

    fields = server.model_dump()
    return type(server)(**{k: expand(v) if k in EXPANDED else v for k, v in fields.items()})


@contextlib.asynccontextmanager
async def open_mcp_tools(
    servers: Mapping[str, McpServer],
    *,
    secrets: Secrets = NO_SECRETS,
    connect_seconds: float = CONNECT_SECONDS,
    call_seconds: float = CALL_SECONDS,
    tell: Tell = lambda notice: None,
) -> AsyncGenerator[list[BaseTool], None]:
    """Connect to all servers at once and give their tools; each connection lasts for the block.

    What a person should know of the tools' names goes to `tell`, in sentences.
    Raises SecretMissing (or -Forbidden) before anything is opened, ToolServerUnavailable naming a
    dead server.
    A server that is lost later makes its own calls fail, until it is back. `call_seconds`: how
    long a server may be silent within a call.
    """
    limits = {"connect_seconds": connect_seconds, "call_seconds": call_seconds}
    expanded = {name: expand_secrets(server, secrets) for name, server in servers.items()}
    opened = [Server(name, server, **limits) for name, server in expanded.items()]
    try:
        listed = await asyncio.gather(*(server.connect() for server in opened))
        yield name_tools(dict(zip(opened, listed, strict=True)), tell)
    finally:
        await _close_all(opened)


class McpTool(BaseTool):
    """A server's tool. Arguments and results pass as they are; an error result is an error."""

    response_format: str = "content_and_artifact"  # type: ignore[assignment]  # one of its literals
    handle_tool_error: bool = True
    effect: Effect = Effect.ACTS
    _server: Server = PrivateAttr()
    _remote_name: str = PrivateAttr()

    @classmethod
    def of(cls, server: Server, tool: Tool, name: str) -> "McpTool":
        """Return the tool under the name by which the model calls it."""
        made = cls(
            name=name,
            description=tool.description or "",
            args_schema=tool.inputSchema,
            effect=_effect(tool),
        )
        made._server, made._remote_name = server, tool.name
        return made

    def _run(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        raise NotImplementedError("MCP tools are called on the event loop")

    async def _arun(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        key = IDEMPOTENCY_KEY.get() if self.effect is Effect.IDEMPOTENT else None
        meta = {"idempotency_key": key} if key else None
        result = await self._server.call(self._remote_name, arguments, meta)
        text = "\n".join(_text(block) for block in result.content)
        if result.isError:
            raise ToolException(text)
        return text, _artifact(result, text)


def name_tools(listed: Mapping[Server, list[Tool]], tell: Tell) -> list[BaseTool]:
    """Return all tools under distinct names.

    A later server's tool whose name is taken is called `server__tool`. Of two tools of one name of
    one server only the first can be called at all, so the second is left out.
    """
    named: dict[str, BaseTool] = {}
    for server, tools in listed.items():
        distinct: dict[str, Tool] = {}
        renamed, repeated = [], []
        for tool in tools:
            if distinct.setdefault(tool.name, tool) is not tool:
                repeated.append(tool.name)
        for tool in distinct.values():
            name = _free_name(server.name, tool.name, named)
            named[name] = McpTool.of(server, tool, name)
            if name != tool.name:
                renamed.append(f"{tool.name} is called {name}")
        if repeated:
            tell(
                f"The tool server {server.name} lists {_some(repeated)} more than once:"
                " only the first is used."
            )
        if renamed:
            tell(
                f"Of the tool server {server.name}, {_some(renamed)} here:"
                " the names are taken or not allowed."
            )
    return list(named.values())


def _some(names: list[str]) -> str:
    """The first few of them, for a sentence."""
    more = f" and {len(names) - MAX_TOLD} more" if len(names) > MAX_TOLD else ""
    return ", ".join(names[:MAX_TOLD]) + more


def _free_name(server: str, tool: str, taken: Mapping[str, BaseTool]) -> str:
    name = _NOT_IN_NAMES.sub("_", tool)[:MAX_NAME]
    full, number = _NOT_IN_NAMES.sub("_", f"{server}__{tool}"), 1
    while not name or name in taken:
        tail = f"_{number}" if number > 1 else ""
        name = full[: MAX_NAME - len(tail)] + tail
        number += 1
    return name


def _effect(tool: Tool) -> Effect:
    """Return what the server says that running the tool does; without a word, it acts."""
    says = tool.annotations
    if says is not None and says.readOnlyHint:
        return Effect.READ_ONLY
    if says is not None and says.idempotentHint:
        return Effect.IDEMPOTENT
    return Effect.ACTS


async def _close_all(servers: list[Server]) -> None:
    """Close all connections; one that takes its time goes on closing without anyone waiting."""
    tasks = {task for server in servers for task in server.close()}
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
