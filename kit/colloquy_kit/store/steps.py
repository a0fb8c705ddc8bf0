"""Both views of a conversation, saved in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic
from uuid import UUID

from langchain_core.messages import BaseMessage
from sqlalchemy.orm import Session

from colloquy_kit.store.conversations import Whose
from colloquy_kit.store.messages import save_message
from colloquy_kit.store.states import save_agent_state
from colloquy_kit.store.tables import C, M, S, Tables


@dataclass(frozen=True)
class SavedStep(Generic[M]):
    """The state's new version, and the display messages that were added."""

    version: int
    rows: Sequence[M]


def save_step(
    session: Session,
    tables: Tables[C, S, M],
    whose: Whose,
    conversation_id: UUID,
    messages: Sequence[BaseMessage],
    state: dict[str, Any],
    *,
    version: int | None = None,
) -> SavedStep[M]:
    """Save new messages for people and the state for the model, both or neither.

    Raise NotFound, StaleVersion if another has saved the state since.
    """
    new = save_agent_state(session, tables, whose, conversation_id, state, version=version)
    rows = [
        row
        for message in messages
        for row in save_message(session, tables, whose, conversation_id, message)
    ]
    return SavedStep(new, rows)
