"""Tools that a server only runs as tasks: started, polled until they end, or cancelled."""

import asyncio
from collections.abc import Callable
from functools import partial

from langchain_core.tools import ToolException
from mcp import ClientSession
from mcp.shared.experimental.tasks.helpers import is_terminal
from mcp.types import TASK_REQUIRED, CallToolResult, GetTaskResult, Task, Tool
from pydantic import ValidationError

from backend.tools.mcp.connection.cancel import tell
from backend.types import JSON

SHORTEST_PAUSE, USUAL_PAUSE, LONGEST_PAUSE = 0.1, 0.5, 10.0
KEPT_SECONDS = 60.0  # how long a finished result is kept for fetching
NEEDS_INPUT = "input_required"

Note = Callable[[], None]
Say = Callable[[str], None]


def is_run_as_task(tool: Tool) -> bool:
    """Return whether the server refuses to run the tool within a call."""
    return tool.execution is not None and tool.execution.taskSupport == TASK_REQUIRED


async def run_as_task(
    session: ClientSession, tool: str, arguments: JSON, meta: JSON | None, *,
    seconds: float, note: Note, say: Say,
) -> CallToolResult:  # fmt: skip
    """Run the tool as a task and return its result; cancel the task if the caller leaves.

    `note` is called before each request, `say` with the server's status messages. Raise
    ToolException for a task that asks for input, or that the server has cancelled.
    """
    note()
    begun = await session.experimental.call_tool_as_task(
        tool, arguments, ttl=int((seconds + KEPT_SECONDS) * 1_000), meta=meta
    )
    task_id = begun.task.taskId
    try:
        ended = await _wait(session, begun.task, note, say)
        if ended.status == "cancelled":
            raise ToolException(f"The tool server has cancelled its task of the tool {tool}.")
        note()
        return await _result(session, ended)
    except BaseException:
        tell(partial(session.experimental.cancel_task, task_id))
        raise


async def _wait(session: ClientSession, task: Task, note: Note, say: Say) -> Task | GetTaskResult:
    """Poll the task at the pace that its server asks for, until it has ended."""
    now: Task | GetTaskResult = task
    while not is_terminal(now.status):
        if now.status == NEEDS_INPUT:
            raise ToolException(
                "The tool's task asks for a person's answer, which is not supported here; it was "
                "cancelled. Do without the tool, or give it all that it needs in the call."
            )
        if now.statusMessage:
            say(now.statusMessage)
        wanted = now.pollInterval / 1_000 if now.pollInterval is not None else USUAL_PAUSE
        await asyncio.sleep(min(max(wanted, SHORTEST_PAUSE), LONGEST_PAUSE))
        note()
        now = await session.experimental.get_task(task.taskId)
    return now


async def _result(session: ClientSession, task: Task | GetTaskResult) -> CallToolResult:
    """Fetch the result; a failed task may have none besides its status message."""
    try:
        return await session.experimental.get_task_result(task.taskId, CallToolResult)
    except ValidationError:
        if task.status != "failed":
            raise
        raise ToolException(f"The tool's task has failed: {task.statusMessage}") from None
