"""Tools of MCP servers, opened for one run: text passes unchanged in both directions.

A server that is down, slow or changed only costs its own tools: a run continues with those of the
others, and people see a notice.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool
from mcp.types import Tool

from backend.domains.allowed import Allowed
from backend.errors.tools import ToolServerUnavailable
from backend.sandbox.sandbox import Sandbox
from backend.schemas.domains.templates import McpServer
from backend.settings import Settings
from backend.tools.context import OnProgress
from backend.tools.mcp.bounds import usable_tools
from backend.tools.mcp.checks import SchemaChecks
from backend.tools.mcp.health import ServerHealth
from backend.tools.mcp.names import ToolKey, assign_names
from backend.tools.mcp.server import Server
from backend.tools.mcp.stored_versions import NoMemory, ServerTools, ToolMemory
from backend.tools.mcp.tool import McpTool
from backend.tools.mcp.versions import Review
from backend.tools.mcp.words import (
    about_names,
    about_withheld,
    server_missing_text,
    tool_absent_text,
    tool_gone_text,
    tool_withheld_text,
)
from db.session import Database

CALL_SECONDS = 600.0
CLOSE_SECONDS = 0.5
NOTHING = Allowed()
NO_MEMORY = NoMemory()

_running: set[asyncio.Task[Any]] = set()


@dataclass(frozen=True)
class ToolServers:
    """What a process knows about all servers, for all its turns."""

    health: ServerHealth
    tools: ServerTools

    @classmethod
    def of(cls, settings: Settings, database: Database) -> "ToolServers":
        """Return the initial state of a process."""
        return cls(ServerHealth(settings.mcp_connect_seconds), ServerTools(database))


@dataclass(frozen=True)
class Served:
    """What servers offer to one run. `absent`: by tool name, why it cannot be called now.

    `gone`: the same for tools that are no longer listed, whose names are free. `is_whole`: every
    server has answered and all its tools may be used. `notices`: what a person should read once,
    in sentences; `warnings`: what concerns this run only.
    """

    tools: list[BaseTool]
    absent: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@contextlib.asynccontextmanager
async def open_mcp_tools(
    servers: Mapping[str, McpServer],
    *,
    allowed: Allowed = NOTHING,
    health: ServerHealth | None = None,
    memory: ToolMemory = NO_MEMORY,
    sandbox: Sandbox | None = None,
    asker: str = "",
    call_seconds: float = CALL_SECONDS,
    on_progress: OnProgress = lambda call_id, text: None,
    is_patient: bool = False,
    reserved: Collection[str] = (),
) -> AsyncGenerator[Served, None]:
    """Connect to all servers concurrently and yield their tools; connections last for the block.

    Raise SecretMissing (or -Forbidden) before anything is opened.
    The calls of a server that is lost later fail until it is back. `call_seconds`: how long a
    server may be silent within a call. `asker`: the person for whom calls are checked.
    `is_patient`: all servers get their full time to connect,
    even those that failed recently, as when a person has just let one of their calls run.
    `reserved`: names that no server's tool gets.
    """
    if not servers:
        yield Served([])
        return
    health = health or ServerHealth()
    opened = [
        Server(name, template, allowed, health, call_seconds) for name, template in servers.items()
    ]
    try:
        found = await asyncio.gather(*(_connect(server, health, is_patient) for server in opened))
        listed = {s: got for s, got in zip(opened, found, strict=True) if isinstance(got, list)}
        missing = {s: got for s, got in zip(opened, found, strict=True) if isinstance(got, str)}
        checks = SchemaChecks(sandbox or Sandbox(), asker)
        make = partial(McpTool.of, checks=checks, on_progress=on_progress)
        yield await _serve(listed, missing, memory, make, reserved)
    finally:
        await close_all([server for server in opened if not server.is_connecting])


async def _connect(server: Server, health: ServerHealth, is_patient: bool) -> list[Tool] | str:
    """Return the server's tools, or why it is unavailable within the time that a turn waits.

    In that case the attempt continues without the turn, so that the process learns its outcome.
    Turns that begin during an attempt share its result; each opens a connection of its own when it
    first calls a tool.
    """
    if health.pause(server.key) and not is_patient:
        return health.reason(server.key)
    attempt = health.attempt(server.key, server.connect)
    try:
        # The attempt itself enforces its own time limit.
        patience = None if is_patient else health.patience(server.key)
        await asyncio.wait({attempt}, timeout=patience)
    finally:
        if not attempt.done():
            _keep(asyncio.create_task(_learn(attempt, server)))
    if not attempt.done():
        return f"it did not answer within {patience:.1f} seconds"
    try:
        server.tools = attempt.result()
    except ToolServerUnavailable as error:
        return error.detail
    return server.tools


async def _learn(attempt: asyncio.Task[list[Tool]], server: Server) -> None:
    await asyncio.wait({attempt})
    attempt.exception()
    await close_all([server])


async def _serve(
    listed: Mapping[Server, list[Tool]],
    missing: Mapping[Server, str],
    memory: ToolMemory,
    make: Callable[[Server, Tool, str], McpTool],
    reserved: Collection[str],
) -> Served:
    """Return the tools that may be used, under distinct names, and why others may not."""
    notices: list[str] = []
    distinct: dict[Server, dict[str, Tool]] = {}
    for server, found in listed.items():
        distinct[server], new_notices = usable_tools(server.name, found)
        notices += new_notices
    review = await memory.review({s.name: list(t.values()) for s, t in distinct.items()})
    servers = {server.name for server in (*listed, *missing)}
    remembered = [key for key in review.remembered if key[0] in servers]
    names = assign_names({s.name: list(t) for s, t in distinct.items()}, remembered, reserved)
    served: list[BaseTool] = []
    for server, tools in distinct.items():
        usable = [t for t in tools.values() if not review.withholds((server.name, t.name))]
        served += [make(server, t, names[server.name, t.name]) for t in usable]
        notices += about_withheld(server.name, list(tools), review)
        called = {tool.name: names[server.name, tool.name] for tool in usable}
        if renamed := about_names(server.name, called):
            notices.append(renamed)
    absent, gone = _unavailable(names, {tool.name for tool in served}, missing, review)
    is_whole = not missing and not any(map(review.withholds, names))
    warnings = [server_missing_text(server.name, why) for server, why in missing.items()]
    return Served(served, absent, gone, is_whole, tuple(notices), tuple(warnings))


def _unavailable(
    names: Mapping[ToolKey, str], usable: set[str], missing: Iterable[Server], review: Review
) -> tuple[dict[str, str], dict[str, str]]:
    """Return, by tool name, why a tool that existed before cannot be called: absent and gone."""
    away = {server.name for server in missing}
    absent: dict[str, str] = {}
    gone: dict[str, str] = {}
    for key, name in names.items():
        server, _ = key
        if name in usable:
            continue
        if server in away:
            absent[name] = tool_absent_text(name, server)
        elif key in review.statuses:
            absent[name] = tool_withheld_text(name, server, review.statuses[key])
        else:
            gone[name] = tool_gone_text(name, server)
    return absent, gone


async def close_all(servers: Sequence[Server]) -> None:
    """Close all connections; a slow one continues to close in the background."""
    tasks = {task for server in servers for task in server.close()}
    for task in tasks:
        _keep(task)
    if tasks:
        await asyncio.wait(tasks, timeout=CLOSE_SECONDS)


def _keep(task: asyncio.Task[None]) -> None:
    """Keep a reference to a background task, which could otherwise be garbage-collected."""
    _running.add(task)
    task.add_done_callback(_running.discard)
