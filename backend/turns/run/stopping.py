"""Stopping one turn, for a person or because the turn that waits for its task has ended."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.conversations.turns import TurnStatus
from backend.turns.lifecycle import is_finished
from backend.turns.run.claim_rows import lease_is_over
from backend.turns.run.close import Closed, Outcome, close_turn
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow


def stop_row(session: Session, turn: TurnRow) -> Closed | None:
    """Close the turn and return how it was closed, or request the stop from its worker.

    None if its worker will stop it or it has ended.
    """
    status = TurnStatus(turn.status)
    if is_finished(status):
        return None
    if status is TurnStatus.RUNNING and not lease_is_over(session, turn):
        if not turn.stop_requested:
            turn.stop_requested, turn.stop_requested_at = True, func.clock_timestamp()
            session.flush()
        return None
    return close_turn(session, turn, Outcome.stopped())


def stop_task_turn(session: Session, turn_id: UUID) -> Closed | None:
    """Stop a task's turn, whoever owns it. Return like `stop_row`."""
    turn = session.get(TurnRow, turn_id)
    if turn is None:
        return None
    conversation = select(ConversationRow.id).where(ConversationRow.id == turn.conversation_id)
    if session.scalar(conversation.with_for_update(key_share=True)) is None:
        return None
    session.refresh(turn)
    return stop_row(session, turn)
