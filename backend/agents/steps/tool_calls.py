"""Tool calls as the journal sees them: their place in the conversation, and their effect."""

from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ValidationError

from backend.agents.state_tools import marked_effect
from backend.tools.journal import CallKey
from backend.tools.mcp.tool import McpTool
from backend.tools.registry import TOOLS, Effect
from colloquy_kit.messages.arguments import unreadable_reason


@dataclass(frozen=True)
class BatchPosition:
    """A call's place; `unreadable` says why its arguments cannot be read, if so."""

    key: CallKey
    batch_size: int
    unreadable: str | None


def place_of(request: ToolCallRequest) -> BatchPosition:
    """Return the place of the call: its model message, and its number there.

    The id alone is not enough: models use one id for several calls.
    """
    for message in reversed(_messages(request.state)):
        if isinstance(message, AIMessage):
            number = _number(message.tool_calls, request.tool_call)
            unreadable = unreadable_reason(message.additional_kwargs, number)
            return BatchPosition(
                CallKey(message.id or "", number), len(message.tool_calls), unreadable
            )
    return BatchPosition(CallKey("", 0), 1, None)


def effect_of(tool: BaseTool | None) -> Effect:
    """Return the effect of running the tool: without a known one it acts; no tool has none.

    A policy's own tool that only changes the state carries a mark.
    """
    if tool is None:
        return Effect.READ_ONLY
    if isinstance(tool, McpTool):
        return tool.effect
    if effect := marked_effect(tool):
        return effect
    spec = TOOLS.get(tool.name)
    return spec.effect if spec else Effect.ACTS


def find_misfits(request: ToolCallRequest) -> list[str]:
    """Return what a built-in tool would refuse in its arguments, or ignore because it has no such.

    What the tool of a tool server takes is for its own schema to say.
    """
    schema = request.tool.args_schema if request.tool else None
    if request.tool is None or not isinstance(schema, type) or not issubclass(schema, BaseModel):
        return []
    arguments, shown = request.tool_call["args"], request.tool.tool_call_schema
    if unknown := [name for name in arguments if name not in schema.model_fields]:
        return [f"{name}: there is no such argument" for name in unknown]
    try:
        if isinstance(shown, type) and issubclass(shown, BaseModel):
            shown.model_validate(arguments)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return []


def runs_in_thread(tool: BaseTool | None) -> bool:
    """Return whether the tool is synchronous: its thread keeps running after a timeout."""
    if isinstance(tool, StructuredTool):
        return tool.coroutine is None
    return tool is not None and type(tool)._arun is BaseTool._arun


def _messages(state: Any) -> list[BaseMessage]:
    messages: list[BaseMessage] = state.get("messages", []) if isinstance(state, dict) else []
    return messages


def _number(calls: list[ToolCall], wanted: ToolCall) -> int:
    """Find the call itself, else an equal one, else one with its id."""
    tests = (
        lambda call: call is wanted,
        lambda call: call == wanted,
        lambda call: call["id"] == wanted["id"],
    )
    for test in tests:
        for number, call in enumerate(calls):
            if test(call):
                return number
    return 0
