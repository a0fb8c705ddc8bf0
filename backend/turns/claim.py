"""Claiming a turn: who may run it, from which state, under which attempt number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, func, select, text
from sqlalchemy.orm import Session

from backend.agents.state import calling_message
from backend.auth.scope import Role, Scope
from backend.conversations import display
from backend.conversations.display import Draft
from backend.conversations.messages import add_messages
from backend.conversations.state_store import StoredState, load_state
from backend.domains.template import template_of
from backend.schemas.domains import Limits
from backend.schemas.sessions import DisplayMessage, EventContext, Turn, TurnStatus, Usage
from backend.tools.journal import CallKey, Recorded
from backend.turns.closing import Closed, Outcome, close_turn
from backend.turns.entry import enter_message
from backend.turns.fairness import may_run
from backend.turns.journal import load_journal
from backend.turns.lifecycle import MAX_ATTEMPTS, is_exhausted, is_finished
from backend.turns.rows import change_turn, context_in, next_turn_id, wire_turn
from db.models.conversation import ConversationRow
from db.models.turn import TurnRow

JSON = dict[str, Any]

GIVEN_UP = Outcome.failed(
    "Worker lost",
    f"The worker was lost {MAX_ATTEMPTS} times while this turn ran, so it was given up."
    " What was saved is above. Press Retry to go on from there.",
)


@dataclass(frozen=True)
class Claim:
    """The right of one attempt to run and write a turn, and all it starts from.

    `is_resumed`: the attempt before it has lost its worker.
    """

    turn: Turn
    attempt: int
    scope: Scope
    image: JSON
    context: EventContext
    stored: StoredState
    message_position: int
    position: int
    added: Sequence[DisplayMessage]
    journal: Mapping[CallKey, Recorded]
    is_resumed: bool = False

    @property
    def turn_id(self) -> UUID:
        """The turn's id."""
        return self.turn.id

    @property
    def conversation_id(self) -> UUID:
        """The id of the turn's conversation."""
        return self.turn.session_id

    @property
    def limits(self) -> Limits:
        """What the turn may use at most."""
        return template_of(self.image).limits

    @property
    def usage(self) -> Usage:
        """What earlier attempts have used."""
        return self.turn.usage


def claim_turn(
    session: Session, turn_id: UUID, worker: str, lease_seconds: float, at_once: int
) -> Claim | Closed | None:
    """Take a turn that waits or has lost its worker.

    None when it is not to be had: finished, gone, run by another worker, behind another turn, or
    of an owner who runs as many as one person may, `at_once`.
    A turn that is to be stopped or has lost too many workers is closed instead.
    """
    locked = _lock(session, turn_id)
    if locked is None or not _may_claim(session, locked[1], at_once):
        return None
    conversation, turn = locked
    if turn.stop_requested:
        return close_turn(session, turn, Outcome.stopped())
    is_lost = turn.worker is not None
    if is_exhausted(turn.losses + is_lost):
        return close_turn(session, turn, GIVEN_UP)
    added = [enter_message(session, turn)] if turn.message_position is None else []
    if is_lost:
        added += add_messages(session, turn.conversation_id, turn.id, [_resumed(session, turn)])
    _take(session, turn, worker, lease_seconds, turn.losses + is_lost)
    stored = load_state(session, turn.conversation_id)
    asking = calling_message(stored.state) if turn.attempt > 1 else None
    return Claim(
        turn=wire_turn(turn),
        attempt=turn.attempt,
        scope=Scope(turn.owner_id, Role.MEMBER, conversation.team, conversation.organisation),
        image=conversation.image,
        context=context_in(conversation, turn),
        stored=stored,
        message_position=turn.message_position or 0,
        position=added[-1].position if added else conversation.message_count,
        added=added,
        journal=load_journal(session, turn.id, asking["id"]) if asking else {},
        is_resumed=is_lost,
    )


def lease_is_over(session: Session, turn: TurnRow) -> bool:
    """Whether the turn's worker has not been heard of for too long, by the database's clock."""
    now = session.scalar(select(func.clock_timestamp()))
    return turn.lease_until is None or (now is not None and turn.lease_until < now)


def _lock(session: Session, turn_id: UUID) -> tuple[ConversationRow, TurnRow] | None:
    """Hold the turn's conversation, and the turn, which is read as it is once both are held."""
    row = session.execute(_LOCK, {"turn_id": turn_id}).one_or_none()
    return row and row.tuple()


def _may_claim(session: Session, turn: TurnRow, at_once: int) -> bool:
    status = TurnStatus(turn.status)
    if is_finished(status):
        return False
    if status is TurnStatus.RUNNING:
        return lease_is_over(session, turn)
    if next_turn_id(session, turn.conversation_id) != turn.id:
        return False
    return turn.stop_requested or may_run(session, turn.owner_id, at_once)


def _resumed(session: Session, turn: TurnRow) -> Draft:
    """What people are told of a lost worker; `turn` keeps how long nobody was at it."""
    said = f"Worker lost at step {turn.steps + 1}, resumed"
    if turn.heartbeat_at is not None:
        now = session.scalar(select(func.clock_timestamp())) or turn.heartbeat_at
        seconds = max((now - turn.heartbeat_at).total_seconds(), 0.0)
        turn.lost_seconds += seconds
        said += f" after {seconds:.{0 if seconds >= 10 else 1}f} s"
    return display.notice(f"{said}.")


def _take(session: Session, turn: TurnRow, worker: str, lease_seconds: float, losses: int) -> None:
    clock = func.clock_timestamp()
    change_turn(
        session,
        turn,
        status=TurnStatus.RUNNING,
        attempt=turn.attempt + 1,
        losses=losses,
        worker=worker,
        heartbeat_at=clock,
        lost_seconds=turn.lost_seconds,
        model_retry_at=None,
        lease_until=clock + text(f"interval '{float(lease_seconds)} seconds'"),
        started_at=func.coalesce(TurnRow.started_at, clock),
        message_position=turn.message_position,
    )


_LOCK = (
    select(ConversationRow, TurnRow)
    .join(TurnRow, TurnRow.conversation_id == ConversationRow.id)
    .where(TurnRow.id == bindparam("turn_id"))
    .with_for_update(key_share=True)
)
