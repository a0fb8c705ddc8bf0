"""Which display messages a message of the agent state became. Pure.

Both were made of the same step, by the rules of `conversations.display`, in the same order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.conversations.shown import MARK
from backend.llm.arguments import REASONING
from backend.schemas.sessions import ContentType, MessageType

JSON = dict[str, Any]
SAID = (ContentType.THINKING, ContentType.TEXT, ContentType.TOOL_CALL)


@dataclass(frozen=True)
class Row:
    """A display message's frame; `call_id` is that of a call, or of the call that it answers."""

    position: int
    message_type: MessageType
    content_type: ContentType
    sequence: int
    call_id: str | None = None


def pair(messages: Sequence[JSON], rows: Sequence[Row]) -> dict[int, str]:
    """Give the id of its message for each position that has one.

    `messages` are those that some turns have made, as they are stored, `rows` what the same turns
    have shown. What was only shown, or only read, is left over.
    """
    groups = _groups(rows)
    pairs: dict[int, str] = {}
    start = 0
    for message in messages:
        if message["role"] == "tool":
            found = _result(message, groups, start, pairs)
        else:
            found = _group(message, groups, start)
        if found is None:
            continue
        pairs |= {row.position: message["id"] for row in groups[found]}
        if message["role"] != "tool":
            start = found + 1
    return pairs


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of one message each; what is for people only is left out."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.message_type is MessageType.TOOL or row.content_type in SAID:
            last = groups[-1][-1] if groups else None
            goes_on = (
                last is not None
                and row.message_type is MessageType.ASSISTANT
                and last.message_type is MessageType.ASSISTANT
                and row.sequence > last.sequence
            )
            if goes_on:
                groups[-1].append(row)
            else:
                groups.append([row])
    return groups


def _group(message: JSON, groups: list[list[Row]], start: int) -> int | None:
    """The first group from `start` on that shows a person's or a model's message."""
    wanted, named = _kinds(message), _named_position(message)
    for number in range(start, len(groups)):
        group = groups[number]
        kinds = [(row.message_type, row.content_type, row.call_id) for row in group]
        if kinds == wanted and (named is None or any(r.position == named for r in group)):
            return number
    return None


def _result(
    message: JSON, groups: list[list[Row]], start: int, pairs: Mapping[int, str]
) -> int | None:
    """The first result from `start` on that answers the same call and is not taken."""
    for number in range(start, len(groups)):
        row = groups[number][0]
        is_result = row.content_type is ContentType.TOOL_RESULT
        if is_result and row.call_id == message.get("tool_call_id") and row.position not in pairs:
            return number
    return None


def _kinds(message: JSON) -> list[tuple[MessageType, ContentType, str | None]]:
    if message["role"] == "user":
        return [(MessageType.USER, ContentType.TEXT, None)]
    speaker = MessageType.ASSISTANT
    kinds: list[tuple[MessageType, ContentType, str | None]] = []
    if (message.get("additional_kwargs") or {}).get(REASONING):
        kinds.append((speaker, ContentType.THINKING, None))
    if message.get("content"):
        kinds.append((speaker, ContentType.TEXT, None))
    for call in message.get("tool_calls") or ():
        kinds.append((speaker, ContentType.TOOL_CALL, call.get("id")))
    return kinds


def _named_position(message: JSON) -> int | None:
    """The position that a stored message names instead of saying its text."""
    content = message.get("content")
    return content.get(MARK) if isinstance(content, dict) else None
