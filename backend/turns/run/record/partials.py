"""Partial messages that are not saved yet; several models may stream concurrently."""

from collections.abc import Iterable

from backend.agents.steps.events import TextDelta, ThinkingDelta
from backend.turns.run.close import Partial

Kind = type[TextDelta] | type[ThinkingDelta]


class Partials:
    """Keeps what was published of each message until it is saved or withdrawn."""

    def __init__(self) -> None:
        self._pieces: dict[str, dict[Kind, list[str]]] = {}

    def add(self, delta: TextDelta | ThinkingDelta) -> None:
        """Add a delta to its message."""
        kinds = self._pieces.setdefault(delta.message_id, {})
        kinds.setdefault(type(delta), []).append(delta.text)

    def has(self, message_id: str, kind: Kind) -> bool:
        """Return whether the message has content of that kind."""
        return kind in self._pieces.get(message_id, {})

    def forget(self, message_ids: Iterable[str]) -> None:
        """Drop messages that are saved or withdrawn."""
        for message_id in message_ids:
            self._pieces.pop(message_id, None)

    def clear(self) -> None:
        """Drop all messages."""
        self._pieces.clear()

    def list_all(self) -> list[Partial]:
        """Return all partial messages, in the order in which they began."""
        return [
            Partial(
                message_id, "".join(kinds.get(TextDelta, ())), "".join(kinds.get(ThinkingDelta, ()))
            )
            for message_id, kinds in self._pieces.items()
        ]
