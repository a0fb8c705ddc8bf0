"""Results of tool calls: cleaned and bounded, or an error that says why there is none."""

import logging
import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import ToolException

from backend.agents.bounded import GaveUp
from backend.errors.base import AppError
from backend.schemas.conversations.outcomes import CallOutcome
from backend.tools.registry import Effect
from colloquy_kit.messages.clean import clean

MAX_RESULT_CHARS = 1_000_000
MAX_ARTIFACT_CHARS = 20_000_000
MAX_ERROR_CHARS = 2_000
MAX_FAULTS, MAX_FAULT_CHARS = 10, 150
OUTCOME_UNKNOWN = (
    "Outcome unknown: the worker was lost while this call ran, so it may or may not have taken "
    "effect. It was not repeated. Check before you repeat it."
)
OUTCOME = "outcome"  # of a result that no tool gave

_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_SPEAKING = (AppError, ToolException, ValueError, LookupError, TimeoutError)

logger = logging.getLogger(__name__)


def unknown_outcome(request: ToolCallRequest) -> ToolMessage:
    """Return the result of a call that a lost worker began, and that may have taken effect."""
    return not_run(request, OUTCOME_UNKNOWN, CallOutcome.UNKNOWN)


def no_such_tool(request: ToolCallRequest, warnings: Sequence[str]) -> ToolMessage:
    """Return the result of a call of a name that no tool has now; `warnings` may tell why."""
    offered = ", ".join(tool.name for tool in request.runtime.tools) or "none"
    sentence = f"There is no tool {request.tool_call['name']} here, so nothing was run."
    return error_result(request, " ".join([sentence, f"There are: {offered}.", *warnings]))


def unreadable_arguments(request: ToolCallRequest, reason: str) -> ToolMessage:
    """Return the result of a call that was not run, so that the model can correct it."""
    return error_result(
        request,
        f"The arguments of this call could not be read ({reason}), so nothing was run. "
        "Send the call again with one valid JSON object as its arguments.",
    )


def unfit_arguments(request: ToolCallRequest, faults: Sequence[str]) -> ToolMessage:
    """Return the result of a call that was not made, because its tool would refuse or ignore some.

    A model can write any number of faults; it gets the first ones, and the number of the others.
    """
    shown = [fault[:MAX_FAULT_CHARS] for fault in faults[:MAX_FAULTS]]
    if more := len(faults) - len(shown):
        shown.append(f"and {more:,} more")
    listed_faults = "; ".join(shown)
    return error_result(
        request,
        f"The arguments do not fit the tool's schema ({listed_faults}); the tool was not called.",
    )


def took_too_long(
    request: ToolCallRequest, seconds: float, effect: Effect, *, runs_on: bool
) -> ToolMessage:
    """Return the result of a call that timed out; one that acts may have taken effect."""
    name = request.tool_call["name"]
    too_long = f"The tool {name} took longer than {seconds:g} seconds, its limit,"
    sentence = f"{too_long} and was ended."
    if runs_on:
        sentence = f"{too_long} and was given up. It could not be ended: it may still run."
    if effect is Effect.READ_ONLY:
        return error_result(request, sentence)
    unclear = f"{sentence} It may or may not have taken effect."
    return not_run(request, unclear, CallOutcome.UNKNOWN)


def failed(request: ToolCallRequest, error: Exception) -> ToolMessage:
    """Return the result of a call that raised, with the error's text only if meant to be read."""
    name = request.tool_call["name"]
    logger.warning("tool failed", extra={"tool": name, "error": type(error).__name__})
    return error_result(request, _sentence(name, error))


def not_run(request: ToolCallRequest, content: str, outcome: CallOutcome) -> ToolMessage:
    """Return the result of a call that has none of its tool: the model reads `content`."""
    return with_outcome(error_result(request, content), outcome)


def with_outcome(result: ToolMessage, outcome: CallOutcome) -> ToolMessage:
    """Return a result that says to people why the call was not run."""
    marks = {**result.additional_kwargs, OUTCOME: outcome.value}
    return result.model_copy(update={"additional_kwargs": marks})


def error_result(request: ToolCallRequest, content: str) -> ToolMessage:
    """Return an error result that says `content`."""
    return ToolMessage(
        content=clean(content),
        tool_call_id=request.tool_call["id"],
        name=request.tool_call["name"],
        status="error",
        id=str(uuid4()),
    )


def tidy(result: ToolMessage) -> ToolMessage:
    """Return the result as it may enter the conversation: clean, bounded, with its own id."""
    content = clean(_cut(result.content))
    artifact, note = _cut_artifact(result.artifact)
    if note and isinstance(content, str):
        content += note
    changes = {"content": content, "artifact": artifact, "id": result.id or str(uuid4())}
    return result.model_copy(update=changes)


def _sentence(tool: str, error: Exception) -> str:
    if isinstance(error, GaveUp):
        return f"The tool {tool} ended itself without a result."
    message = str(error).strip() if isinstance(error, _SPEAKING) else ""
    if not message:
        return f"The tool {tool} failed ({type(error).__name__})."
    readable = _CREDENTIALS.sub("://…@", message[: 2 * MAX_ERROR_CHARS])
    if len(readable) <= MAX_ERROR_CHARS:
        return readable
    return f"{readable[:MAX_ERROR_CHARS]} [cut here: the message has {len(message)} characters]"


def _cut(content: Any) -> Any:
    """Cut a text, which may be a gigabyte, before anything else is done; likewise blocks."""
    if isinstance(content, str):
        if len(content) <= MAX_RESULT_CHARS:
            return content
        return content[:MAX_RESULT_CHARS] + _note_of_cut(len(content))
    if size_of(content, MAX_RESULT_CHARS) <= MAX_RESULT_CHARS:
        return content
    return f"[left out: the result has more than {MAX_RESULT_CHARS} characters in blocks]"


def _note_of_cut(length: int) -> str:
    return f"\n[cut here: the result has {length} characters]"


def _cut_artifact(artifact: Any) -> tuple[Any, str]:
    """Return the artifact cleaned; one that is too large is left out, with a note.

    A table is bounded by the tool that made it.
    """
    is_table = isinstance(artifact, dict) and artifact.get("kind") == "table"
    if is_table or size_of(artifact, MAX_ARTIFACT_CHARS) <= MAX_ARTIFACT_CHARS:
        return clean(artifact), ""
    return None, "\n[left out: the structured part of the result is too large]"


def size_of(value: Any, enough: int) -> int:
    """Return roughly how many characters a JSON value has; counting ends beyond `enough`."""
    size, left = 0, [value]
    while left and size <= enough:
        one = left.pop()
        if isinstance(one, str | bytes):
            size += len(one)
        elif isinstance(one, dict):
            left += one.keys()
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
        size += 1
    return size
