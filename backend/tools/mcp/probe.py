"""Checking a domain's tool servers for administrators: whether they answer, and with what."""

import asyncio
import time
from collections.abc import Collection, Mapping

from mcp.types import Tool

from backend.domains.allowed import Allowed
from backend.errors.domains import SecretMissing
from backend.errors.tools import ToolServerUnavailable
from backend.schemas.domains.servers import ServerReport, ServerTool, VersionStatus
from backend.schemas.domains.templates import McpServer
from backend.tools.mcp.bounds import usable_tools
from backend.tools.mcp.connection.reading import MAX_TOOLS
from backend.tools.mcp.health import ServerHealth
from backend.tools.mcp.names import assign_names
from backend.tools.mcp.parameters import renamed_parameters
from backend.tools.mcp.server import Server
from backend.tools.mcp.servers import CALL_SECONDS, close_all
from backend.tools.mcp.stored_versions import ToolMemory
from backend.tools.mcp.tool import effect_of_tool
from backend.tools.mcp.words import about_many, about_parameters


async def probe_servers(
    servers: Mapping[str, McpServer],
    allowed: Allowed,
    health: ServerHealth,
    memory: ToolMemory,
    reserved: Collection[str],
) -> list[ServerReport]:
    """Connect to each server, even during its pause, and report the outcome.

    The listed tools are remembered and named as when a turn lists them.
    """
    probes = [_Probe(name, server) for name, server in servers.items()]
    await asyncio.gather(*(probe.look(allowed, health) for probe in probes))
    listed = {probe.name: probe.tools for probe in probes if probe.problem is None}
    review = await memory.review({name: list(tools.values()) for name, tools in listed.items()})
    remembered = [key for key in review.remembered if key[0] in servers]
    names = assign_names(
        {name: list(tools) for name, tools in listed.items()}, remembered, reserved
    )
    return [
        probe.report(
            {
                tool: (names[probe.name, tool], review.statuses.get((probe.name, tool)))
                for tool in probe.tools
            }
        )
        for probe in probes
    ]


class _Probe:
    """The check of one server."""

    def __init__(self, name: str, server: McpServer) -> None:
        self.name = name
        self.tools: dict[str, Tool] = {}
        self.notices: list[str] = []
        self.problem: str | None = None
        self._template = server
        self._seconds = self._paused = 0.0

    async def look(self, allowed: Allowed, health: ServerHealth) -> None:
        """Connect, list the tools that turns can use, and disconnect."""
        began = time.monotonic()
        self._paused = health.pause(self._template.model_dump_json())
        try:
            server = Server(self.name, self._template, allowed, health, CALL_SECONDS)
            try:
                listed = await server.connect()
                self.tools, self.notices = usable_tools(self.name, listed, most_told=MAX_TOOLS)
            finally:
                self._seconds = time.monotonic() - began
                await close_all([server])
        except (SecretMissing, ToolServerUnavailable) as error:
            self.problem = error.detail

    def report(self, found: Mapping[str, tuple[str, VersionStatus | None]]) -> ServerReport:
        """Return the report. `found`: each tool's name for models, and its status."""
        said = (
            about_many(self.name, [called for called, _ in found.values()]),
            *(
                about_parameters(self.name, name, renamed_parameters(tool.inputSchema))
                for name, tool in self.tools.items()
            ),
        )
        return ServerReport(
            name=self.name,
            transport=self._template.transport,
            answers=self.problem is None,
            seconds=round(self._seconds, 3),
            problem=self.problem,
            paused_seconds=round(self._paused, 1),
            notices=[*self.notices, *filter(None, said)],
            tools=[self._tool(tool, *found[name]) for name, tool in self.tools.items()],
        )

    def _tool(self, tool: Tool, called: str, status: VersionStatus | None) -> ServerTool:
        return ServerTool(
            name=tool.name,
            called=called,
            description=tool.description or "",
            input_schema=tool.inputSchema,
            effect=effect_of_tool(tool).value,
            status=status or VersionStatus.ACCEPTED,
        )
