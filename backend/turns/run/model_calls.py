"""The model calls of a claim: recorded with the step that they made, or when the turn ends."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.agents.steps.events import ModelAsked
from backend.conversations.state.sent import RequestRecords
from backend.conversations.state.sent_store import keep_contents
from backend.llm.events import ModelCall
from backend.types import JSON


class ModelCallLog:
    """The calls not recorded yet, and the contents that this claim has already stored."""

    def __init__(self) -> None:
        self._open: list[ModelAsked] = []
        self._chosen: list[ModelAsked] = []
        self._stored: set[str] = set()
        self._storing: set[str] = set()

    def add(self, asked: ModelAsked) -> None:
        """Add a call."""
        self._open.append(asked)

    @property
    def calls(self) -> list[ModelCall]:
        """Return the calls that are not recorded yet."""
        return [asked.call for asked in self._open]

    @property
    def model(self) -> str | None:
        """Return the model that was asked last, if its call is not recorded yet."""
        return str(self._open[-1].call.payload["model"]) if self._open else None

    def choose_ended(self) -> list[ModelCall]:
        """Choose the calls that have ended by now, and return them; the others continue."""
        self._chosen = [asked for asked in self._open if asked.call.has_ended]
        return [asked.call for asked in self._chosen]

    def choose_all(self) -> None:
        """Choose all calls, including those that have not ended."""
        self._chosen = list(self._open)

    def record(
        self, session: Session, conversation_id: UUID, messages: Sequence[JSON]
    ) -> list[JSON]:
        """Store the contents of the chosen calls and return their records.

        `messages` are those of the state that is saved with them. Nothing counts as recorded until
        `saved`, because a write may have to be repeated.
        """
        records = RequestRecords()
        for asked in self._chosen:
            records.add(asked.call, asked.read, messages)
        new = {name: text for name, text in records.contents.items() if name not in self._stored}
        keep_contents(session, conversation_id, new)
        self._storing = set(new)
        return records.calls

    def saved(self) -> None:
        """Mark the calls recorded last as saved."""
        self._stored |= self._storing
        self._open = [asked for asked in self._open if asked not in self._chosen]
        self._chosen = []
