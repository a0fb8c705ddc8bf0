"""Storing a visible text once: the stored state refers to its display message. Pure rules.

In what is stored of a state, `{"$shown": 17}` stands for the text of the display message at
position 17, whose content never changes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from backend.schemas.conversations.sessions import DisplayMessage
from backend.types import JSON

MARK = "$shown"
MIN_CHARS = 64  # a reference is not worth it for less
EXTRA, THINKING = "additional_kwargs", "reasoning_content"


def text_of_row(content: JSON) -> Any:
    """Return the text in a display message's content; None for other kinds of content."""
    return content.get("text") or content.get("content")


def pack_delta(delta: JSON, rows: Iterable[DisplayMessage]) -> JSON:
    """Return the delta in its stored form: its messages refer to the texts that `rows` show."""
    positions = {text: row.position for row in rows if (text := text_of_row(row.content))}

    def pack(value: Any) -> Any:
        if isinstance(value, str) and len(value) >= MIN_CHARS and value in positions:
            return {MARK: positions[value]}
        return value

    new = {part: [_map_texts(m, pack) for m in delta[part]] for part in _NEW if part in delta}
    return {**delta, **new}


def positions_in(messages: Iterable[JSON]) -> list[int]:
    """Return the positions that stored messages refer to, in ascending order."""
    return sorted(
        {value[MARK] for message in messages for value in _texts(message) if _names(value)}
    )


def unpack(messages: Iterable[JSON], texts: Mapping[int, str]) -> list[JSON]:
    """Return the messages with their texts restored."""

    def text_of(value: Any) -> Any:
        return texts[value[MARK]] if _names(value) else value

    return [_map_texts(message, text_of) for message in messages]


_NEW = ("prepend", "append")


def _names(value: Any) -> bool:
    return isinstance(value, dict) and MARK in value


def _texts(message: JSON) -> Iterator[Any]:
    yield message.get("content")
    yield message.get(EXTRA, {}).get(THINKING)


def _map_texts(message: JSON, change: Callable[[Any], Any]) -> JSON:
    """Return the message with content and thinking mapped; the same object if unchanged."""
    content, thinking = _texts(message)
    changed_content, changed_thinking = change(content), change(thinking)
    if changed_content is not content:
        message = {**message, "content": changed_content}
    if changed_thinking is not thinking:
        message = {**message, EXTRA: {**message[EXTRA], THINKING: changed_thinking}}
    return message
