"""Building the tools over sources: arguments by schema, errors as helpful results."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel

from backend.data.being_read import noticing
from backend.data.errors import DataError
from backend.tools.context import CALL_ID, ToolContext
from backend.tools.sources.presenting import Artifact

MAX_CHARS = 150
TELL_SECONDS = 2.0  # shorter reads are not reported
Answer = tuple[str, Artifact | None]


def make_tool(
    name: str,
    arguments: type[BaseModel],
    ask: Callable[..., Awaitable[Answer]],
    context: ToolContext,
) -> BaseTool:
    """Return a tool described by its arguments' docstring; a DataError becomes a result.

    While a source is read for the first time, that is reported as the call's progress.
    """

    @wraps(ask)
    async def answer(**values: object) -> Answer:
        with noticing() as being_read:
            telling = asyncio.create_task(_tell(being_read, context, CALL_ID.get()))
            try:
                return await ask(**values)
            except DataError as error:
                raise ToolException(f"Error: {error.detail}") from None
            finally:
                telling.cancel()

    return StructuredTool.from_function(
        coroutine=answer,
        name=name,
        description=" ".join((arguments.__doc__ or "").split()),
        args_schema=arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


async def _tell(being_read: Mapping[str, float], context: ToolContext, call_id: str) -> None:
    """Report how long sources have been read, until cancelled."""
    while True:
        await asyncio.sleep(TELL_SECONDS)
        if being_read:
            seconds = time.monotonic() - min(being_read.values())
            names = ", ".join(sorted(being_read))
            progress = f"Reading {names[:MAX_CHARS]} for the first time, {seconds:.0f} s"
            context.on_progress(call_id, progress)
