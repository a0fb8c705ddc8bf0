"""Pairing messages of the agent state with their display messages. Pure.

Both come from the same step, by the rules of `conversations.display`, in the same order.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from backend.conversations.state.shown import MARK
from backend.types import JSON
from colloquy_kit.messages.arguments import REASONING
from colloquy_kit.messages.kinds import ContentType, MessageType

Kinds = tuple[tuple[MessageType, ContentType, str | None], ...]
SAID = (ContentType.THINKING, ContentType.TEXT, ContentType.TOOL_CALL)


@dataclass(frozen=True)
class Row:
    """A display message without content; `call_id` is its own, or that of the call it answers."""

    position: int
    message_type: MessageType
    content_type: ContentType
    sequence: int
    call_id: str | None = None


def pair(messages: Sequence[JSON], rows: Sequence[Row]) -> dict[int, str]:
    """Return the message id for each position that has one.

    `messages` are the stored messages that some turns made, `rows` what the same turns showed.
    What was only shown, or only read, remains unpaired.
    """
    groups = _groups(rows)
    index = _Index(groups)
    pairs: dict[int, str] = {}
    start = 0
    for message in messages:
        found = (
            index.result(message, start) if _is_result(message) else index.spoken(message, start)
        )
        if found is None:
            continue
        pairs |= {row.position: message["id"] for row in groups[found]}
        if not _is_result(message):
            start = found + 1
    return pairs


class _Index:
    """An index of groups by kind, in order: a turn may have tens of thousands of them."""

    def __init__(self, groups: Sequence[Sequence[Row]]) -> None:
        self._said: dict[Kinds, list[int]] = defaultdict(list)
        self._results: dict[str | None, deque[int]] = defaultdict(deque)
        self._at: dict[int, int] = {}
        self._kinds = [_kinds_of(group) for group in groups]
        for number, group in enumerate(groups):
            self._said[self._kinds[number]].append(number)
            self._at |= {row.position: number for row in group}
            if group[0].content_type is ContentType.TOOL_RESULT:
                self._results[group[0].call_id].append(number)

    def spoken(self, message: JSON, start: int) -> int | None:
        """Return the first group from `start` on that shows a person's or a model's message."""
        wanted, named = _kinds(message), _named_position(message)
        if named is not None:
            at = self._at.get(named, -1)
            return at if at >= start and self._kinds[at] == wanted else None
        numbers = self._said.get(wanted, [])
        place = bisect_left(numbers, start)
        return numbers[place] if place < len(numbers) else None

    def result(self, message: JSON, start: int) -> int | None:
        """Return the first result from `start` on that answers the same call, and consume it."""
        numbers = self._results.get(message.get("tool_call_id"), deque())
        while numbers:
            if (number := numbers.popleft()) >= start:
                return number
        return None


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Return the rows grouped by message; rows for people only are left out."""
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


def _is_result(message: JSON) -> bool:
    return bool(message["role"] == "tool")


def _kinds_of(group: Sequence[Row]) -> Kinds:
    return tuple((row.message_type, row.content_type, row.call_id) for row in group)


def _kinds(message: JSON) -> Kinds:
    if message["role"] == "user":
        return ((MessageType.USER, ContentType.TEXT, None),)
    speaker = MessageType.ASSISTANT
    kinds: list[tuple[MessageType, ContentType, str | None]] = []
    if (message.get("additional_kwargs") or {}).get(REASONING):
        kinds.append((speaker, ContentType.THINKING, None))
    if message.get("content"):
        kinds.append((speaker, ContentType.TEXT, None))
    for call in message.get("tool_calls") or ():
        kinds.append((speaker, ContentType.TOOL_CALL, call.get("id")))
    return tuple(kinds)


def _named_position(message: JSON) -> int | None:
    """Return the position that a stored message refers to instead of containing its text."""
    content = message.get("content")
    return content.get(MARK) if isinstance(content, dict) else None
