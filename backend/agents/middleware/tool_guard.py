"""Guarding every tool call: it runs once, within limits, with a clean result or readable error."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

from langchain.agents.middleware import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from backend.agents.bounded import TookTooLong, run_bounded
from backend.agents.steps.tool_calls import (
    BatchPosition,
    effect_of,
    find_misfits,
    place_of,
    runs_in_thread,
)
from backend.agents.steps.tool_results import (
    failed,
    no_such_tool,
    not_run,
    tidy,
    took_too_long,
    unfit_arguments,
    unknown_outcome,
    unreadable_arguments,
)
from backend.errors.conversations import corrupt_if_it_fails
from backend.schemas.conversations.outcomes import CallOutcome
from backend.telemetry.calls import CallResult, ToolKind, tool_call
from backend.tools.asker import Asker
from backend.tools.context import CALL_ID, CALL_PLACE
from backend.tools.journal import IDEMPOTENCY_KEY, ToolJournal
from backend.tools.mcp.tool import McpTool
from backend.tools.plans import CallReference
from backend.tools.registry import Effect
from backend.types import JSON
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import dump_message, load_messages
from db.failpoints import failpoint

Result = ToolMessage | Command[Any]
Handler = Callable[[ToolCallRequest], Awaitable[Result]]


class ToolGuard(AgentMiddleware[Any, Any]):
    """Wraps each call with the journal, a time limit and error handling. Adds no messages."""

    def __init__(
        self,
        journal: ToolJournal,
        turn_id: UUID,
        seconds: float,
        absent: Mapping[str, str] = MappingProxyType({}),
        warnings: Sequence[str] = (),
        person: Asker | None = None,
    ) -> None:
        """Create the guard; `absent` says why tools that the model may remember are unavailable.

        `warnings` say what else may be missing. `person`: whose rights hold, as they are when a
        call begins.
        """
        super().__init__()
        self._person = person
        self._warnings = warnings
        self._absent = absent
        self._journal = journal
        self._turn_id = turn_id
        self._seconds = seconds

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Result:
        """Run the tool unless an earlier attempt did; errors of the journal end the run.

        So does it if who asked may not go on; a tool that they may not use does not exist. A call
        that began but has no result runs again only if that is harmless.
        """
        call_id = str(request.tool_call["id"] or "")
        CALL_ID.set(call_id)
        place, effect = place_of(request), effect_of(request.tool)
        CALL_PLACE.set(CallReference(place.key.message_id, place.key.number, call_id))
        if place.unreadable:
            return unreadable_arguments(request, place.unreadable)
        past = self._journal.recorded(place.key)
        if past and past.message:
            return _load_result(past.message, past.artifact)
        if past and (effect is Effect.ACTS or request.tool is None):
            return unknown_outcome(request)
        name = request.tool_call["name"]
        if not await self._is_permitted(request.tool):
            return no_such_tool(request, self._warnings)
        if request.tool is None:
            if why := self._absent.get(name):
                return not_run(request, why, CallOutcome.UNAVAILABLE)
            return no_such_tool(request, self._warnings)
        if misfits := find_misfits(request):
            return unfit_arguments(request, misfits)
        if effect is not Effect.READ_ONLY:
            await self._journal.started(place.key, name, effect)
            failpoint("tool.begun")
        result = await self._run(request, handler, place, effect)
        failpoint("tool.acted")
        if effect is not Effect.READ_ONLY or place.batch_size > 1:
            await self._record(request, place, effect, result)
        return result

    async def _is_permitted(self, tool: Any) -> bool:
        """Return whether who asked may use the tool now. Raise AppError if they may not go on."""
        if self._person is None:
            return True
        rights = await self._person.check()
        return not isinstance(tool, McpTool) or tool.is_for(rights)

    async def _run(
        self, request: ToolCallRequest, handler: Handler, place: BatchPosition, effect: Effect
    ) -> Result:
        """Run the tool; GraphBubbleUp is not a failure but LangGraph's way to interrupt."""
        if effect is Effect.IDEMPOTENT:
            IDEMPOTENCY_KEY.set(place.key.idempotency_key(self._turn_id))
        with tool_call(_kind(request.tool), str(request.tool_call["id"] or "")) as call:
            try:
                result = await run_bounded(handler(request), self._seconds)
            except GraphBubbleUp:
                call.result = CallResult.WAITS
                raise
            except TookTooLong as error:
                call.result = CallResult.TIMED_OUT
                runs_on = error.runs_on or runs_in_thread(request.tool)
                return took_too_long(request, self._seconds, effect, runs_on=runs_on)
            except Exception as error:  # noqa: BLE001  # an edge: the model reads it
                call.result = CallResult.FAILED
                return failed(request, error)
            if not isinstance(result, ToolMessage):
                return result
            if result.status == "error":
                call.result = CallResult.FAILED
            return tidy(result)

    async def _record(
        self, request: ToolCallRequest, place: BatchPosition, effect: Effect, result: Result
    ) -> None:
        """Record a message; not a Command, whose change of the state is lost with the batch."""
        if isinstance(result, ToolMessage):
            artifact = result.artifact if isinstance(result.artifact, dict) else None
            message = clean(dump_message(result))
            name = request.tool_call["name"]
            await self._journal.finished(place.key, name, effect, message, artifact)


def _kind(tool: Any) -> ToolKind:
    return ToolKind(tool.name, tool.server_name if isinstance(tool, McpTool) else None)


def _load_result(recorded: JSON, artifact: JSON | None) -> ToolMessage:
    with corrupt_if_it_fails():
        (message,) = load_messages([recorded])
    return cast(ToolMessage, message.model_copy(update={"artifact": artifact}))
