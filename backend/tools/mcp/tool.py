"""A tool of an MCP server: arguments and results pass unchanged, and an error stays an error."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from mcp.types import CallToolResult, Tool
from pydantic import PrivateAttr

from backend.auth.rights import Rights
from backend.tools.asker import may_use_server
from backend.tools.context import CALL_ID, OnProgress
from backend.tools.journal import IDEMPOTENCY_KEY
from backend.tools.mcp.checks import SchemaChecks
from backend.tools.mcp.connection.progress import ProgressLine
from backend.tools.mcp.connection.task import is_run_as_task
from backend.tools.mcp.parameters import (
    arguments_for_server,
    needed_arguments,
    parameters_for_models,
    renamed_parameters,
)
from backend.tools.mcp.results.content import read_result, without_misfit
from backend.tools.mcp.results.links import open_links
from backend.tools.mcp.server import Server
from backend.tools.registry import Effect
from backend.types import JSON


@dataclass(frozen=True)
class _OfError:
    """The artifact of an error result, which raising an exception would lose."""

    artifact: JSON | None


class McpTool(BaseTool):
    """A server's tool, for the run that its server was opened for."""

    response_format: str = "content_and_artifact"  # type: ignore[assignment]  # one of its literals
    handle_tool_error: bool = True
    effect: Effect = Effect.ACTS
    _server: Server = PrivateAttr()
    _tool: Tool = PrivateAttr()
    _checks: SchemaChecks = PrivateAttr()
    _on_progress: OnProgress = PrivateAttr()

    @classmethod
    def of(
        cls, server: Server, tool: Tool, name: str, checks: SchemaChecks, on_progress: OnProgress
    ) -> "McpTool":
        """Return the tool under its name for the model."""
        about = (tool.description, needed_arguments(tool.inputSchema))
        wrapped = cls(
            name=name,
            description="\n\n".join(filter(None, about)),
            args_schema=parameters_for_models(tool.inputSchema),
            effect=effect_of_tool(tool),
        )
        wrapped._server, wrapped._tool = server, tool
        wrapped._checks, wrapped._on_progress = checks, on_progress
        return wrapped

    @property
    def server_name(self) -> str:
        """Return the name of the tool's server."""
        return self._server.name

    def is_for(self, rights: Rights) -> bool:
        """Return whether a person with these rights may use the tool's server."""
        return may_use_server(rights, self._server.name, self._server.secrets)

    async def ainvoke(
        self, input: str | dict[str, Any] | Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Call the tool; an error result keeps its artifact for people."""
        result = await super().ainvoke(input, config, **kwargs)
        if isinstance(result, ToolMessage) and isinstance(result.artifact, _OfError):
            update = {"status": "error", "artifact": result.artifact.artifact}
            return result.model_copy(update=update)
        return result

    async def check(self, arguments: JSON) -> None:
        """Raise ToolException, as a call would, unless the arguments fit the tool's schema."""
        await self._checked(arguments)

    async def _checked(self, arguments: JSON) -> JSON:
        """Return the arguments as the server takes them. Raise ToolException if they do not fit."""
        schema = self._tool.inputSchema
        given = arguments_for_server(arguments, schema)
        try:
            await self._checks.check_arguments(self._server, schema, given)
        except ToolException as error:
            names = [f"{told} is {name}" for name, told in renamed_parameters(schema).items()]
            raise ToolException("; ".join([str(error), *names])) from None
        return given

    def _run(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        raise NotImplementedError("MCP tools are called on the event loop")

    async def _arun(self, /, **arguments: Any) -> tuple[str, JSON | _OfError | None]:
        key = IDEMPOTENCY_KEY.get() if self.effect is Effect.IDEMPOTENT else None
        meta = {"idempotency_key": key} if key else None
        server, tool = self._server, self._tool
        result = await self._call(await self._checked(arguments), meta)
        if tool.outputSchema is not None and not result.isError:
            misfit = await self._checks.check_result(server, tool.outputSchema, result)
            result = without_misfit(result, misfit) if misfit else result
        content = read_result(await open_links(result, server.read))
        if result.isError:
            return content.text, _OfError(content.artifact)
        return content.text, content.artifact

    async def _call(self, arguments: JSON, meta: JSON | None) -> CallToolResult:
        call_id = CALL_ID.get()
        line = ProgressLine(lambda text: self._on_progress(call_id, text), self._server.hide)
        try:
            return await self._server.call(
                self._tool.name, arguments, meta, line, as_task=is_run_as_task(self._tool)
            )
        finally:
            line.close()


def effect_of_tool(tool: Tool) -> Effect:
    """Return the tool's effect as its server declares it; undeclared, it acts."""
    says = tool.annotations
    if says is not None and says.readOnlyHint:
        return Effect.READ_ONLY
    if says is not None and says.idempotentHint:
        return Effect.IDEMPOTENT
    return Effect.ACTS
