"""What models have said of messages that are not saved yet; several may speak at once."""

from collections.abc import Iterable

from backend.agents.steps.events import TextDelta, ThinkingDelta
from backend.turns.run.close import Partial

Kind = type[TextDelta] | type[ThinkingDelta]


class Partials:
    """Keeps what was published of each message until it is saved or taken back."""

    def __init__(self) -> None:
        self._pieces: dict[str, dict[Kind, list[str]]] = {}

    def add(self, delta: TextDelta | ThinkingDelta) -> None:
        """Keep a piece of its message."""
        kinds = self._pieces.setdefault(delta.message_id, {})
        kinds.setdefault(type(delta), []).append(delta.text)

    def has(self, message_id: str, kind: Kind) -> bool:
        """Return whether something of that kind was said of the message."""
        return kind in self._pieces.get(message_id, {})

    def forget(self, message_ids: Iterable[str]) -> None:
        """Let go of messages that are saved, or that do not count any more."""
        for message_id in message_ids:
            self._pieces.pop(message_id, None)

    def clear(self) -> None:
        """Let go of all messages."""
        self._pieces.clear()

    def list_all(self) -> list[Partial]:
        """Return what there is of each message, in the order of their first words."""
        return [
            Partial(
                message_id, "".join(kinds.get(TextDelta, ())), "".join(kinds.get(ThinkingDelta, ()))
            )
            for message_id, kinds in self._pieces.items()
        ]
