"""Approvals in PostgreSQL: stored when a turn waits, answered once, read when it resumes.

All writers hold the conversation's lock.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import exists, func, insert, select, update
from sqlalchemy.orm import Session

from backend.agents.answers import Answer, without_interrupt
from backend.agents.steps.events import ApprovalRequest
from backend.conversations import views
from backend.conversations.display import CallMove
from backend.conversations.messages import open_calls
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import StoredState
from backend.schemas.approvals import (
    ApprovalStatus,
    DecisionType,
    InterruptContent,
    InterruptOutcome,
)
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.conversations.turns import TurnStatus, WaitsFor
from backend.schemas.tasks import PlanStatus
from backend.tools.journal import CallKey
from backend.types import JSON
from colloquy_kit.messages.display import Draft
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from db.models.planning.plan import PlanRow
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow

SHOWN_AS = {
    ApprovalStatus.DECIDED: MessageStatus.COMPLETED,
    ApprovalStatus.EXPIRED: MessageStatus.STOPPED,
    ApprovalStatus.WITHDRAWN: MessageStatus.STOPPED,
}


def request_approvals(
    session: Session,
    conversation_id: UUID,
    turn_id: UUID,
    agent: str,
    asked: Sequence[ApprovalRequest],
) -> list[DisplayMessage]:
    """Store the approval of each call that asks, and return the messages that show them.

    The caller has checked that the asking attempt still owns the turn.
    """
    now = read_clock(session)
    contents = [_content(call, now) for call in asked]
    drafts = [_draft(content, agent) for content in contents]
    change = views.Change(drafts=drafts)
    shown = views.append(session, conversation_id, turn_id, change).added
    rows = [
        {
            "id": content.approval_id,
            "conversation_id": conversation_id,
            "turn_id": turn_id,
            "message_id": call.key.message_id,
            "number": call.key.number,
            "call_id": call.call_id,
            "tool": call.name,
            "arguments": call.arguments,
            "arguments_hash": call.arguments_hash,
            "request": content.model_dump(mode="json", include=_REQUEST),
            "position": message.position,
            "expires_at": content.expires_at,
            "created_at": now + timedelta(microseconds=place),  # so that lists keep the order
        }
        for place, (call, content, message) in enumerate(zip(asked, contents, shown, strict=True))
    ]
    session.execute(insert(ApprovalRow), rows)
    return shown


def read_clock(session: Session) -> datetime:
    """Return the database's time, the only clock that counts here."""
    now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return now


def pending_of(session: Session, turn_id: UUID) -> list[ApprovalRow]:
    """Return the turn's undecided approvals, in order."""
    return list(session.scalars(_of_turn(turn_id).where(_IS_PENDING)))


def latest_of(session: Session, turn_id: UUID) -> list[ApprovalRow]:
    """Return the turn's latest batch of approvals, in order, decided or not."""
    rows = list(session.scalars(_of_turn(turn_id)))
    return [row for row in rows if row.message_id == rows[-1].message_id]


def answer(
    session: Session,
    row: ApprovalRow,
    status: ApprovalStatus,
    decision: JSON | None = None,
    decided_by: str | None = None,
) -> DisplayMessage | None:
    """Give a pending approval and its message their final status; return the message."""
    row.status, row.decided_by, row.decided_at = status, decided_by, read_clock(session)
    if decision is not None:
        row.decision = decision
    session.flush()
    outcome = _outcome(row).model_dump(mode="json", exclude_defaults=True)
    moves = [CallMove(row.position, SHOWN_AS[status], outcome)]
    change = views.Change(moves=moves)
    written = views.append(session, row.conversation_id, row.turn_id, change)
    return next(iter(written.updated), None)


def requeue_if_decided(session: Session, turn_id: UUID) -> bool:
    """Queue the turn again if no approval is pending and no plan of it is open.

    Return whether that is so.
    """
    now = func.clock_timestamp()
    decided = session.execute(
        update(TurnRow)
        .where(TurnRow.id == turn_id, TurnRow.status == TurnStatus.WAITING)
        .where(~exists().where(ApprovalRow.turn_id == turn_id, _IS_PENDING))
        .values(waits_for=WaitsFor.TASKS)
        .execution_options(synchronize_session=False)
    )
    if not decided.rowcount:  # type: ignore[attr-defined]  # an UPDATE's is a CursorResult
        return False
    queued = session.execute(
        update(TurnRow)
        .where(TurnRow.id == turn_id)
        .where(~exists().where(PlanRow.turn_id == turn_id, _IS_OPEN))
        .values(decided_at=now, enqueued_at=now, waits_for=None)
        .execution_options(synchronize_session=False)
    )
    return bool(queued.rowcount)  # type: ignore[attr-defined]  # an UPDATE's is a CursorResult


def withdraw(session: Session, turn_id: UUID) -> list[DisplayMessage]:
    """Withdraw an ending turn's pending approvals; return the changed messages."""
    pending = pending_of(session, turn_id)
    changed = [answer(session, row, ApprovalStatus.WITHDRAWN) for row in pending]
    return [message for message in changed if message is not None]


def resume_after_decisions(
    session: Session, turn: TurnRow, stored: StoredState
) -> tuple[list[DisplayMessage], StoredState]:
    """Mark the calls that waited as running, and clear the state's interrupt.

    Return their changed messages, and the state.
    """
    at = turn.conversation_id
    waited = open_calls(session, at, turn.id, turn.message_position or 0)
    moves = [CallMove(call.position, MessageStatus.EXECUTING) for call in waited]
    state = without_interrupt(stored.state)
    change = views.Change(
        moves=moves, delta=diff_states(stored.state, state), version=stored.version
    )
    written = views.append(session, at, turn.id, change)
    return written.updated, stored.followed_by(state, stored.version + 1)


def load_answers(session: Session, turn_id: UUID, message_id: str) -> dict[CallKey, Answer]:
    """Return the answers to the approvals of one model message."""
    ended = ApprovalRow.status.in_((ApprovalStatus.DECIDED, ApprovalStatus.EXPIRED))
    rows = session.scalars(
        select(ApprovalRow).where(
            ApprovalRow.turn_id == turn_id, ApprovalRow.message_id == message_id, ended
        )
    )
    return {
        CallKey(message_id, row.number): Answer(row.arguments_hash, row.decision) for row in rows
    }


def carry_over(session: Session, call: tuple[UUID, str, int], again: tuple[UUID, str, int]) -> None:
    """Apply the decisions on a call to the same call of another turn.

    Each call is named by its turn, its model message and its number there.
    """
    turn_id, message_id, number = call
    names = ("turn_id", "message_id", "number")
    session.execute(
        update(ApprovalRow)
        .where(ApprovalRow.turn_id == turn_id, ApprovalRow.message_id == message_id)
        .where(ApprovalRow.number == number, ApprovalRow.status == ApprovalStatus.DECIDED)
        .values(**dict(zip(names, again, strict=True)))
        .execution_options(synchronize_session=False)
    )


_IS_OPEN = PlanRow.status.in_((PlanStatus.RUNNING, PlanStatus.WAITING))
_IS_PENDING = ApprovalRow.status == ApprovalStatus.PENDING
_REQUEST = {"description", "allowed_decisions", "args_schema"}


def _of_turn(turn_id: UUID) -> Any:
    in_order = (ApprovalRow.created_at, ApprovalRow.number)
    return select(ApprovalRow).where(ApprovalRow.turn_id == turn_id).order_by(*in_order)


def _content(asked: ApprovalRequest, now: datetime) -> InterruptContent:
    lasts = asked.expires_seconds
    return InterruptContent(
        approval_id=uuid4(),
        call_id=asked.call_id,
        name=asked.name,
        arguments=asked.arguments,
        arguments_hash=asked.arguments_hash,
        allowed_decisions=list(asked.allowed_decisions),
        description=asked.description,
        args_schema=asked.args_schema,
        expires_at=now + timedelta(seconds=lasts) if lasts else None,
    )


def _draft(content: InterruptContent, agent: str) -> Draft:
    return Draft(
        MessageType.SYSTEM,
        ContentType.INTERRUPT,
        content.model_dump(mode="json"),
        status=MessageStatus.PENDING,
        agent=agent,
    )


def _outcome(row: ApprovalRow) -> InterruptOutcome:
    decision = row.decision or {}
    edited = decision.get("edited_action")
    return InterruptOutcome(
        outcome=ApprovalStatus(row.status),
        decision=DecisionType(decision["type"]) if decision else None,
        decided_by=row.decided_by,
        decided_at=row.decided_at or row.created_at,
        message=decision.get("message"),
        edited_arguments=edited["args"] if edited else None,
        remember=decision.get("remember", False),
    )
