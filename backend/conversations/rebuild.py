"""Rebuilding an agent state from display messages when the stored one is unreadable. Pure.

The display messages hold all that was said and done, so only what people never saw is lost:
summaries, and values of policies. The order of the rows shows which message each belongs to.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from backend.llm.wire.kept import KEPT
from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON
from colloquy_kit.messages.arguments import REASONING, write_arguments
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType


def rebuild_messages(rows: Sequence[DisplayMessage], *, in_team: bool = False) -> list[JSON]:
    """Return the messages that a model would read for these rows, given in ascending position.

    Notices, errors and other rows that only people read are left out. A call without a result is
    left as it is: the caller repairs the whole. In a team each answer has its agent's name.
    """
    spoken = [row for row in rows if row.content_type in _SAID and row.message_type in _MAKE]
    messages = []
    for (speaker, _), group in groupby(_numbered(spoken), key=lambda pair: pair[0]):
        rows_of = [row for _, row in group]
        message = _MAKE[speaker](rows_of)
        if message is not None:
            messages.append(message)
            if in_team and message["role"] == "assistant" and rows_of[0].agent:
                message["name"] = rows_of[0].agent
    return messages


def _numbered(
    rows: Iterable[DisplayMessage],
) -> Iterable[tuple[tuple[MessageType, int], DisplayMessage]]:
    """Yield each row with its speaker and message number; sequence 0 begins a message."""
    number, sequence = 0, -1
    speaker = None
    for row in rows:
        begins = row.sequence <= sequence or row.message_type is not speaker
        number += begins
        sequence, speaker = row.sequence, row.message_type
        yield (row.message_type, number), row


def _user(rows: list[DisplayMessage]) -> JSON | None:
    return {"role": "user", "content": _text(rows), "id": str(rows[0].id)}


def _assistant(rows: list[DisplayMessage]) -> JSON | None:
    text = _text(rows)
    calls = [_call(row.content) for row in rows if row.content_type is ContentType.TOOL_CALL]
    if not text and not calls:
        return None  # only thinking: models refuse an empty answer
    message: JSON = {"role": "assistant", "content": text or None, "id": str(rows[0].id)}
    if calls:
        message["tool_calls"] = calls
    if thinking := _text(rows, ContentType.THINKING):
        message["additional_kwargs"] = {REASONING: thinking, **_kept(rows)}
    if any(row.status is MessageStatus.STOPPED for row in rows if _is_text(row)):
        message["response_metadata"] = {"finish_reason": "stopped"}
    return message


def _kept(rows: list[DisplayMessage]) -> JSON:
    """Return a message's provider-specific fields, as far as its rows hold them."""
    kept = next((row.metadata[KEPT] for row in rows if KEPT in row.metadata), None)
    return {KEPT: kept} if kept else {}


def _tool(rows: list[DisplayMessage]) -> JSON | None:
    row = rows[0]
    if row.content_type is not ContentType.TOOL_RESULT:
        return None
    message: JSON = {
        "role": "tool",
        "content": row.content.get("content") or "",
        "name": row.content.get("name"),
        "tool_call_id": row.content.get("tool_call_id"),
        "id": str(row.id),
    }
    if row.content.get("is_error"):
        message["status"] = "error"
    return message


def _call(content: JSON) -> JSON:
    arguments = write_arguments(content.get("arguments") or {})
    function = {"name": content.get("name"), "arguments": arguments}
    return {"id": content.get("call_id"), "type": "function", "function": function}


def _is_text(row: DisplayMessage) -> bool:
    return row.content_type is ContentType.TEXT


def _text(rows: list[DisplayMessage], kind: ContentType = ContentType.TEXT) -> str:
    return "".join(row.content.get("text", "") for row in rows if row.content_type is kind)


_SAID = {
    ContentType.TEXT,
    ContentType.THINKING,
    ContentType.TOOL_CALL,
    ContentType.TOOL_RESULT,
}
_MAKE = {MessageType.USER: _user, MessageType.ASSISTANT: _assistant, MessageType.TOOL: _tool}
