"""An attempt's writes to its turn's row, each fenced by the attempt's number.

The statements are built once: building them for each step costs more than running them.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Table, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.conversations.display import is_unknown
from backend.errors.turns import LeaseLost
from backend.schemas.conversations.turns import TurnStatus
from backend.text import clean_text
from backend.turns.run.claim import Claim
from backend.types import JSON
from backend.usage.spent import Spent
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow


def hold_conversation(session: Session, conversation_id: UUID) -> None:
    """Lock the conversation, always before the turn, so that writers cannot deadlock."""
    session.execute(_HOLD, {"conversation": conversation_id})


def hold_turn(session: Session, claim: Claim) -> TurnRow:
    """Hold the conversation; return its turn. Raise LeaseLost if the attempt no longer owns it."""
    hold_conversation(session, claim.conversation_id)
    turn = session.scalar(_OWN, _key(claim))
    if turn is None:
        raise LeaseLost
    return turn


def count_step(session: Session, claim: Claim, spent: Spent, messages: Sequence[JSON]) -> bool:
    """Count a step and what it has spent; return whether the turn is to stop.

    What is saved without new `messages`, such as a summary, is no step. Raise LeaseLost if the
    attempt no longer owns the turn.
    """
    unknown = sum(map(is_unknown, messages))
    counted = {"spent": spent.dump(), "steps": int(bool(messages)), "unknown": unknown}
    stop = session.execute(_COUNT_STEP, _key(claim) | counted).scalar_one_or_none()
    if stop is None:
        raise LeaseLost
    return bool(stop)


def note_wait(session: Session, claim: Claim, seconds: float, reason: str) -> None:
    """Record that the model's provider makes the turn wait, for viewers who join later."""
    waits = {"lasts": timedelta(seconds=seconds), "why": clean_text(reason)}
    session.execute(_NOTE_WAIT, _key(claim) | waits)


def _key(claim: Claim) -> dict[str, Any]:
    return {"turn": claim.turn_id, "by_attempt": claim.attempt}


_turns = cast(Table, TurnRow.__table__).c
_IS_OWN = (
    (_turns.id == bindparam("turn"))
    & (_turns.attempt == bindparam("by_attempt"))
    & (_turns.status == TurnStatus.RUNNING)
)
_HOLD = (
    select(ConversationRow.id)
    .where(ConversationRow.id == bindparam("conversation"))
    .with_for_update(key_share=True)
)
_OWN = select(TurnRow).where(_IS_OWN)
_COUNT_STEP = (
    update(cast(Table, TurnRow.__table__))
    .where(_IS_OWN)
    .values(
        steps=_turns.steps + bindparam("steps"),
        usage=bindparam("spent", type_=JSONB),
        heartbeat_at=func.clock_timestamp(),
        unknown_outcomes=_turns.unknown_outcomes + bindparam("unknown"),
    )
    .returning(_turns.stop_requested)
)
_NOTE_WAIT = (
    update(cast(Table, TurnRow.__table__))
    .where(_IS_OWN)
    .values(
        model_retries=_turns.model_retries + 1,
        model_retry_at=func.clock_timestamp() + bindparam("lasts"),
        model_retry_reason=bindparam("why"),
    )
)
