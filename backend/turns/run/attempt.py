"""An attempt's writes to its turn's row, each fenced by the attempt's number."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.conversations.display import is_unknown
from backend.errors.turns import LeaseLost
from backend.turns.ownership import OWNED, TURNS, attempt_key, hold_conversation
from backend.turns.run.claim import Claim
from backend.types import JSON
from backend.usage.spent import Spent
from colloquy_kit.messages.clean import clean_text
from db.models.turns.turn import TurnRow


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
    stop = session.execute(_COUNT_STEP, {**_key(claim), **counted}).scalar_one_or_none()
    if stop is None:
        raise LeaseLost
    return bool(stop)


def note_wait(session: Session, claim: Claim, seconds: float, reason: str) -> None:
    """Record that the model's provider makes the turn wait, for viewers who join later."""
    waits = {"lasts": timedelta(seconds=seconds), "why": clean_text(reason)}
    session.execute(_NOTE_WAIT, {**_key(claim), **waits})


def _key(claim: Claim) -> Mapping[str, Any]:
    return attempt_key(claim.turn_id, claim.attempt)


_OWN = select(TurnRow).where(OWNED)
_COUNT_STEP = (
    update(TURNS)
    .where(OWNED)
    .values(
        steps=TURNS.c.steps + bindparam("steps"),
        usage=bindparam("spent", type_=JSONB),
        heartbeat_at=func.clock_timestamp(),
        unknown_outcomes=TURNS.c.unknown_outcomes + bindparam("unknown"),
    )
    .returning(TURNS.c.stop_requested)
)
_NOTE_WAIT = (
    update(TURNS)
    .where(OWNED)
    .values(
        model_retries=TURNS.c.model_retries + 1,
        model_retry_at=func.clock_timestamp() + bindparam("lasts"),
        model_retry_reason=bindparam("why"),
    )
)
