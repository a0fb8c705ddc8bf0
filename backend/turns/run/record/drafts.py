"""From a step of an agent to the rows that people see: pure rules."""

from dataclasses import replace

from backend.agents.steps.events import StepFinished
from backend.conversations import display
from backend.conversations.state.delta import dropped_messages
from backend.types import JSON
from colloquy_kit.messages.display import Draft, call_status, notice, readable_todos, todo_list
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from colloquy_kit.messages.state import is_summary

LEFT_OUT = (
    "The conversation has grown long: the agent now reads its later part. All of it stays here."
)
SUMMARISED = (
    "The conversation has grown long: the agent now reads a summary of its earlier part. "
    "All of it stays here."
)


def drafts_of(step: StepFinished, before: JSON, delta: JSON, agent: str) -> list[Draft]:
    """Return the rows of a step that changes the state from `before` by `delta`.

    Notices of policies come first, then messages in order, then other changes.
    """
    drafts = [notice(text) for text in step.notices]
    for message in step.messages:
        drafts += _of_message(message, step, agent)
    if todos := readable_todos(delta.get("set", {}).get("todos")):
        drafts.append(todo_list(todos, agent))
    if dropped_messages(delta, len(before["messages"])):
        drafts.append(notice(SUMMARISED if _has_new_summary(delta) else LEFT_OUT))
    return drafts


def _of_message(message: JSON, step: StepFinished, agent: str) -> list[Draft]:
    if message["role"] == "tool":
        artifact = step.artifacts.get(message.get("tool_call_id", ""))
        return display.tool_drafts(message, artifact, agent)
    rows = display.assistant_drafts(message, agent, MessageStatus.COMPLETED)
    return [_as_answered(row, step) for row in rows]


def _as_answered(row: Draft, step: StepFinished) -> Draft:
    """Return a call's row with the status that its step gives it, if it was answered or waits."""
    if row.content_type is not ContentType.TOOL_CALL:
        return row
    for message in step.messages:
        if message["role"] == "tool" and message.get("tool_call_id") == row.content["call_id"]:
            return replace(row, status=call_status(message))
    is_asking = row.content["call_id"] in step.asking
    return replace(row, status=MessageStatus.PENDING) if is_asking else row


def _has_new_summary(delta: JSON) -> bool:
    new = [*delta.get("prepend", ()), *delta.get("append", ())]
    return any(map(is_summary, new))
