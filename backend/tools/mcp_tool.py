"""A tool of an MCP server: arguments and results pass as they are, an error result is an error."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from mcp.types import Tool
from pydantic import PrivateAttr

from backend.schemas.wire import JSON
from backend.tools.journal import IDEMPOTENCY_KEY
from backend.tools.mcp_content import read_result
from backend.tools.mcp_server import Server
from backend.tools.registry import Effect


@dataclass(frozen=True)
class _OfError:
    """The artifact of an error result: raising it as an exception would lose it."""

    artifact: JSON | None


class McpTool(BaseTool):
    """A server's tool, for the run that its server was opened for."""

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
            effect=effect_of_tool(tool),
        )
        made._server, made._remote_name = server, tool.name
        return made

    async def ainvoke(
        self, input: str | dict[str, Any] | Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Any:
        """Call the tool; an error result keeps what people see of it."""
        result = await super().ainvoke(input, config, **kwargs)
        if isinstance(result, ToolMessage) and isinstance(result.artifact, _OfError):
            update = {"status": "error", "artifact": result.artifact.artifact}
            return result.model_copy(update=update)
        return result

    def _run(self, /, **arguments: Any) -> tuple[str, JSON | None]:
        raise NotImplementedError("MCP tools are called on the event loop")

    async def _arun(self, /, **arguments: Any) -> tuple[str, JSON | _OfError | None]:
        key = IDEMPOTENCY_KEY.get() if self.effect is Effect.IDEMPOTENT else None
        meta = {"idempotency_key": key} if key else None
        result = await self._server.call(self._remote_name, arguments, meta)
        content = read_result(result)
        if result.isError:
            return content.text, _OfError(content.artifact)
        return content.text, content.artifact


def effect_of_tool(tool: Tool) -> Effect:
    """Return what the server says that running the tool does; without a word, it acts."""
    says = tool.annotations
    if says is not None and says.readOnlyHint:
        return Effect.READ_ONLY
    if says is not None and says.idempotentHint:
        return Effect.IDEMPOTENT
    return Effect.ACTS
