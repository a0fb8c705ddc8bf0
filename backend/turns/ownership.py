"""Whether an attempt still owns its turn: each of its writes asks, by its number.

The statements are built once: building them for each step costs more than running them.
"""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, bindparam, select
from sqlalchemy.orm import Session

from backend.schemas.conversations.turns import TurnStatus
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow

TURNS = cast(Table, TurnRow.__table__)

# True of the turn of an attempt that owns it; `attempt_key` returns its two values.
OWNED = (
    (TURNS.c.id == bindparam("owned_turn"))
    & (TURNS.c.attempt == bindparam("by_attempt"))
    & (TURNS.c.status == TurnStatus.RUNNING)
)


def attempt_key(turn_id: UUID, attempt: int) -> Mapping[str, Any]:
    """Return the values that a statement with OWNED needs."""
    return {"owned_turn": turn_id, "by_attempt": attempt}


def hold_conversation(session: Session, conversation_id: UUID) -> None:
    """Lock the conversation, always before the turn, so that writers cannot deadlock."""
    session.execute(_HOLD, {"conversation": conversation_id})


_HOLD = (
    select(ConversationRow.id)
    .where(ConversationRow.id == bindparam("conversation"))
    .with_for_update(key_share=True)
)
