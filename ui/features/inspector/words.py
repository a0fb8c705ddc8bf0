"""The inspector's wording: context statuses, reasons, speakers."""

from collections.abc import Mapping
from typing import Any

from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import Usage
from backend.schemas.inspection import (
    ContextStatus,
    InspectedRow,
    ModelCallSummary,
    Origin,
    Pair,
    ReadMessage,
    Reason,
)
from colloquy_kit.messages.kinds import ContentType, MessageType
from ui.features.usage import words as usage_words
from ui.shared.formats import reader
from ui.shared.text.json_text import lay_out

CONTEXT_STATUSES = {
    ContextStatus.KEPT: ("green", "kept"),
    ContextStatus.EDITED: ("orange", "edited"),
    ContextStatus.SUMMARISED: ("blue", "summarised"),
    ContextStatus.DROPPED: ("red", "dropped"),
    ContextStatus.PEOPLE_ONLY: ("gray", "for people only"),
    ContextStatus.UNKNOWN: ("gray", "not known"),
}
ORIGINS = {
    Origin.SUMMARY: ("blue", "summary"),
    Origin.REPAIRED: ("orange", "repaired"),
    Origin.POLICY: ("violet", "added by a policy"),
}
KINDS = {
    ContentType.THINKING: "thinking",
    ContentType.TOOL_CALL: "tool call",
    ContentType.TOOL_RESULT: "tool result",
}
SPEAKERS = {MessageType.USER: "Person", MessageType.TOOL: "Tool", MessageType.SYSTEM: "Colloquy"}
ROLES = {"user": "Person", "assistant": "Agent", "tool": "Tool", "system": "System"}
PURPOSES = {"answer": "Answer", "summary": "Summary", "title": "Title"}


def context_status_badge(context_status: ContextStatus) -> str:
    """Return the context status as a badge, in Markdown."""
    color, words = CONTEXT_STATUSES[context_status]
    return f":{color}-badge[{words}]"


def origin_badge(origin: Origin) -> str:
    """Return the origin of a message that people do not see; empty for one that they see."""
    color, words = ORIGINS.get(origin, ("", ""))
    return f":{color}-badge[{words}]" if words else ""


def speaker(row: DisplayMessage) -> str:
    """Return the speaker of a display message, and its kind unless it is text."""
    who = SPEAKERS.get(row.message_type) or row.agent or "Agent"
    kind = KINDS.get(row.content_type, "")
    return f"{who}, {kind}" if kind else who


def words_of(row: DisplayMessage) -> str:
    """Return the content of a display message as one text."""
    content = row.content
    if row.content_type is ContentType.TOOL_CALL:
        return _call_words(content)
    return str(content.get("text") or content.get("content") or content.get("detail") or "")


def call_usage(row: DisplayMessage) -> str:
    """Return the tokens of the model call that gave a message; empty where they are not told."""
    used = row.metadata.get("usage")
    return usage_words.usage(Usage(**used, model_calls=1)) if used else ""


def words_read(message: ReadMessage) -> str:
    """Return what the model reads of a message, as one text."""
    calls = [_call_words(call) for call in message.calls]
    return "\n".join(filter(None, [message.text, *calls]))


def _call_words(call: Mapping[str, Any]) -> str:
    """Return a call as its tool's name and, in parentheses, its arguments as JSON."""
    arguments = call.get("arguments")
    shown = arguments if isinstance(arguments, str) else lay_out(arguments)
    return f"{call.get('name')}({shown})"


def content_words(content: object) -> str:
    """Return a sent content as text; of a list of blocks, text blocks are shown as text."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    blocks = content if isinstance(content, list) else [content]
    return "\n\n".join(_block_words(block) for block in blocks)


def why(pair: Pair) -> str:
    """Return why the model does not read what people see here; empty if it does."""
    if pair.reads is not None or not pair.shown:
        return ""
    read = [row for row in pair.shown if row.context_status is not ContextStatus.PEOPLE_ONLY]
    return _why(read[0] if read else pair.shown[0])


def differs(pair: Pair) -> bool:
    """Return whether people and the model read different things, not counting people-only rows."""
    return not pair.shown or any(
        row.context_status not in (ContextStatus.KEPT, ContextStatus.PEOPLE_ONLY)
        for row in pair.shown
    )


def call_words(call: ModelCallSummary) -> str:
    """Return a model call in one line."""
    parts = [call.model, reader.counted(call.message_count, "message")]
    if call.input_tokens is not None:
        came, went = reader.number(call.input_tokens), reader.number(call.output_tokens or 0)
        parts.append(f"{came} tokens in, {went} out")
    if call.cost:
        parts.append(f"{call.cost:.4f}")
    if call.seconds is not None:
        parts.append(reader.duration(call.seconds))
    if call.failure:
        parts.append(call.failure)
    return " · ".join(parts)


def call_title(call: ModelCallSummary) -> str:
    """Return the place of a model call, and its purpose."""
    purpose = PURPOSES.get(call.purpose, call.purpose)
    return f"Turn {call.turn}, step {call.step} · {purpose}"


def _block_words(block: object) -> str:
    if isinstance(block, dict) and block.keys() == {"type", "text"}:
        return str(block["text"]).strip()
    return lay_out(block)


def _why(row: InspectedRow) -> str:
    if row.context_status is ContextStatus.PEOPLE_ONLY:
        if row.message.content_type is ContentType.THINKING:
            return "A model's thinking is not sent back to the model."
        return "This is for people only: the model never reads it."
    if row.context_status is ContextStatus.UNKNOWN:
        return "Whether the model reads this is not known: how the memory changed is missing."
    left = row.left
    if left is None:
        return "The model no longer reads this; it is not known since when."
    when = f"before step {left.step} of turn {left.turn}"
    return {
        Reason.SUMMARY: f"Summarised {when}: the model reads the summary instead.",
        Reason.TRIMMED: f"Left out {when}, to keep the model's context short.",
        Reason.TAKEN_BACK: f"Taken back {when}: it was tried again or edited.",
    }[left.reason]
