"""The model calls of a claim: noted with the step that they made, or when the turn ends."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.agents.steps.events import ModelAsked
from backend.conversations.state.sent import RequestRecord
from backend.conversations.state.sent_store import keep_contents
from backend.llm.events import ModelCall
from backend.types import JSON


class ModelCallLog:
    """Calls that are not noted yet, and which contents this claim has stored already."""

    def __init__(self) -> None:
        self._open: list[ModelAsked] = []
        self._noted: list[ModelAsked] = []
        self._stored: set[str] = set()
        self._storing: set[str] = set()

    def add(self, asked: ModelAsked) -> None:
        """A model was asked."""
        self._open.append(asked)

    @property
    def calls(self) -> list[ModelCall]:
        """The calls that are not noted yet."""
        return [asked.call for asked in self._open]

    def choose_ended(self) -> list[ModelCall]:
        """Note only those that have ended by now, and give them; the others go on."""
        self._noted = [asked for asked in self._open if asked.call.has_ended]
        return [asked.call for asked in self._noted]

    def choose_all(self) -> None:
        """Note also those that have not ended."""
        self._noted = list(self._open)

    def note(self, session: Session, conversation_id: UUID, messages: Sequence[JSON]) -> list[JSON]:
        """Return the notes of the chosen calls; their contents are stored.

        `messages` are those of the state that is saved with them. Nothing counts as noted until
        `saved`, since a write may have to be done again.
        """
        noted = RequestRecord()
        for asked in self._noted:
            noted.add(asked.call, asked.read, messages)
        new = {name: text for name, text in noted.contents.items() if name not in self._stored}
        keep_contents(session, conversation_id, new)
        self._storing = set(new)
        return noted.calls

    def saved(self) -> None:
        """What was noted last is saved."""
        self._stored |= self._storing
        self._open = [asked for asked in self._open if asked not in self._noted]
        self._noted = []
