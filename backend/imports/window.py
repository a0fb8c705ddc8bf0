"""The part of a history that the agent reads after an import: the recent one. Pure."""

from collections.abc import Sequence

from backend.types import JSON

RECENT_MESSAGES = 200
RECENT_CHARS = 200_000
CUT = "[… the beginning was cut at the import]\n"


def recent(turns: Sequence[tuple[Sequence[JSON], int]]) -> list[JSON]:
    """Return the last messages of turns that fit into the limits: whole turns, if one does.

    With each turn comes its size, by `size_of`.

    Of a turn that is too long alone, its person's message and its end; of a text that is too long,
    its end. What is left is still a state in which each call has its result.
    """
    kept: list[JSON] = []
    left = RECENT_CHARS
    for turn, size in reversed(turns):
        if len(kept) + len(turn) > RECENT_MESSAGES or size > left:
            return kept or _end_of(turn)
        kept = [*turn, *kept]
        left -= size
    return kept


def size_of(turn: Sequence[JSON]) -> int:
    """Return how many characters a model reads of a turn."""
    return sum(map(_size, turn))


def _end_of(turn: Sequence[JSON]) -> list[JSON]:
    first = [_shortened(turn[0], RECENT_CHARS // 4)] if turn[0]["role"] == "user" else []
    left = RECENT_CHARS - size_of(first)
    rest: list[JSON] = []
    for message in reversed(turn[len(first) :]):
        fitting = _shortened(message, RECENT_CHARS // 4)
        left -= _size(fitting)
        if left < 0 or len(rest) >= RECENT_MESSAGES - 1:
            break
        rest.insert(0, fitting)
    while rest and rest[0]["role"] == "tool":  # their call did not fit
        rest.pop(0)
    return first + rest


def _shortened(message: JSON, most: int) -> JSON:
    content = message.get("content")
    if isinstance(content, str) and len(content) > most:
        return {**message, "content": CUT + content[len(content) - most + len(CUT) :]}
    return message


def _size(message: JSON) -> int:
    content = message.get("content")
    calls = message.get("tool_calls") or ()
    said = len(content) if isinstance(content, str) else 0
    return said + sum(len(call["function"]["arguments"]) for call in calls)
