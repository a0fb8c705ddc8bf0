"""How the tools over sources are made: arguments by schema, errors as results that help."""

from collections.abc import Awaitable, Callable
from functools import wraps

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel

from backend.data.errors import DataError
from backend.tools.presenting import Artifact

Answer = tuple[str, Artifact | None]


def make_tool(
    name: str, arguments: type[BaseModel], ask: Callable[..., Awaitable[Answer]]
) -> BaseTool:
    """A tool whose description is the docstring of its arguments; DataError becomes a result."""

    @wraps(ask)
    async def answer(**values: object) -> Answer:
        try:
            return await ask(**values)
        except DataError as error:
            raise ToolException(f"Error: {error.detail}") from None

    return StructuredTool.from_function(
        coroutine=answer,
        name=name,
        description=" ".join((arguments.__doc__ or "").split()),
        args_schema=arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
