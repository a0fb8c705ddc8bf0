"""Claiming a turn: who may run it, from which state, under which attempt number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from sqlalchemy import Float, Integer, Table, bindparam, func, or_, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from backend.agents.answers import Answers
from backend.agents.state import calling_message
from backend.approvals.allowed_tools import tools_allowed_in
from backend.approvals.store import load_answers, resume_after_decisions
from backend.auth.scope import Role, Scope
from backend.connections.store import NEWEST_NUMBER
from backend.conversations import display, views
from backend.conversations.messages import open_calls
from backend.conversations.state.store import StoredState
from backend.domains.template import template_of
from backend.errors.conversations import CorruptState
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn, TurnStatus
from backend.tools.journal import CallKey, Recorded
from backend.turns.lifecycle import (
    MAX_LOSSES,
    check_transition,
    is_exhausted,
    is_finished,
    losses_in_row,
)
from backend.turns.process.fairness import may_run
from backend.turns.queries import change_turn, context_in, next_turn_id, seconds_between, wire_turn
from backend.turns.run.close import Closed, Outcome, close_turn, load_checked
from backend.turns.run.journal import load_journal
from backend.turns.submit.enter import show_message
from backend.types import JSON
from backend.usage.budgets import Budgets
from backend.usage.ledger import Used, used_in_session
from backend.usage.spent import Spent
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow

GIVEN_UP = Outcome.failed(
    "Worker lost",
    f"The worker was lost {MAX_LOSSES} times in a row at the same step of this turn, so the turn"
    " was given up. Saved steps are above. Press Retry to continue from there.",
)


@dataclass(frozen=True)
class Claim:
    """The right of one attempt to run and write a turn, and everything it starts from.

    `calls`: the display messages of calls that earlier attempts left without an outcome.
    `is_resumed`: the previous attempt lost its worker. `has_waited`: the turn waited for people,
    who have now decided; `answers` holds their decisions, `updated` the messages changed by them.
    `connection` is the number of the connection to models that is set on the page, if any; `role`
    is the role of the person who asked.
    """

    turn: Turn
    attempt: int
    scope: Scope
    image: JSON
    context: EventContext
    stored: StoredState
    budgets: Budgets
    position: int
    added: Sequence[DisplayMessage]
    journal: Mapping[CallKey, Recorded]
    calls: Sequence[DisplayMessage] = ()
    is_resumed: bool = False
    answers: Answers = field(default_factory=Answers)
    has_waited: bool = False
    updated: Sequence[DisplayMessage] = ()
    connection: int | None = None
    role: str | None = None

    @property
    def turn_id(self) -> UUID:
        """Return the turn's id."""
        return self.turn.id

    @property
    def conversation_id(self) -> UUID:
        """Return the id of the turn's conversation."""
        return self.turn.session_id

    @property
    def spent(self) -> Spent:
        """Return what earlier attempts have spent."""
        return Spent(self.turn.usage_by_model)


def claim_turn(
    session: Session, turn_id: UUID, worker: str, lease_seconds: float, at_once: int
) -> Claim | Closed | None:
    """Claim a turn that is queued, has lost its worker, or waited for people who have decided.

    Return None if it cannot be claimed: finished, deleted, run by another worker, behind another
    turn, or its owner already runs `at_once` turns.
    A turn that is to be stopped, or that lost too many workers without saving a step in between,
    is closed instead.
    """
    locked = _lock(session, turn_id)
    if locked is None:
        return None
    conversation, turn, is_over, connection = locked
    if not _may_claim(session, turn, is_over, at_once):
        return None
    if turn.stop_requested:
        return close_turn(session, turn, Outcome.stopped())
    is_lost = turn.worker is not None
    in_row = turn.losses_in_row
    if is_lost:
        in_row = losses_in_row(in_row, turn.lost_at_step, turn.steps)
    if is_exhausted(in_row):
        change_turn(session, turn, **_LAST_LOSS, losses_in_row=in_row)
        return close_turn(session, turn, GIVEN_UP)
    added = [show_message(session, turn)] if turn.message_position is None else []
    has_waited = turn.status == TurnStatus.WAITING
    check_transition(TurnStatus(turn.status), TurnStatus.RUNNING)
    silence = _take(session, turn, worker, lease_seconds, in_row if is_lost else 0)
    if is_lost:
        resumed = display.notice(_resumed(turn.steps, silence))
        told = views.Change(drafts=[resumed])
        added += views.append(session, turn.conversation_id, turn.id, told).added
    try:
        stored = load_checked(session, turn.conversation_id)
    except CorruptState as error:
        return close_turn(session, turn, Outcome.failed(error.title, error.detail))
    asking = calling_message(stored.state)
    updated: list[DisplayMessage] = []
    if has_waited:
        updated, stored = resume_after_decisions(session, turn, stored)
    return Claim(
        turn=wire_turn(turn),
        attempt=turn.attempt,
        scope=Scope(turn.owner_id, Role.MEMBER, conversation.team, conversation.organisation),
        image=conversation.image,
        context=context_in(conversation, turn),
        stored=stored,
        budgets=_budgets(session, conversation, turn),
        position=added[-1].position if added else conversation.message_count,
        added=added,
        journal=load_journal(session, turn.id, asking["id"]) if asking else {},
        calls=_calls_left(session, turn) if asking or turn.attempt > 1 else (),
        is_resumed=is_lost,
        answers=_answers(session, conversation, turn, asking),
        has_waited=has_waited,
        updated=updated,
        connection=connection,
        role=turn.role,
    )


def lease_is_over(session: Session, turn: TurnRow) -> bool:
    """Return whether the turn's lease has expired, by the database's clock."""
    return bool(session.scalar(select(_LEASE_IS_OVER).where(TurnRow.id == turn.id)))


def _lock(
    session: Session, turn_id: UUID
) -> tuple[ConversationRow, TurnRow, bool, int | None] | None:
    """Lock the turn's conversation, then the turn, which is read once both are locked.

    Also return whether the turn's lease had expired by then, and the number of the saved
    connection to models.
    """
    row = session.execute(_LOCK, {"turn_id": turn_id}).one_or_none()
    return row and row.tuple()


def _may_claim(session: Session, turn: TurnRow, is_over: bool, at_once: int) -> bool:
    status = TurnStatus(turn.status)
    if is_finished(status):
        return False
    if status is TurnStatus.RUNNING:
        return is_over
    if status is TurnStatus.WAITING and turn.decided_at is None:
        return turn.stop_requested
    if status is TurnStatus.QUEUED and next_turn_id(session, turn.conversation_id) != turn.id:
        return False
    return turn.stop_requested or may_run(session, turn.owner_id, at_once)


def _budgets(session: Session, conversation: ConversationRow, turn: TurnRow) -> Budgets:
    """Return what the turn may use; the conversation's usage is counted only where limited."""
    limits, before = template_of(conversation.image).limits, Used()
    if limits.conversation_tokens or limits.conversation_cost:
        before = used_in_session(session, conversation.id, turn.id)
    return Budgets(limits, conversation.domain_name, before)


def _answers(
    session: Session, conversation: ConversationRow, turn: TurnRow, asking: JSON | None
) -> Answers:
    """Return people's decisions on the pending calls, and the tools that they always allow."""
    by_call = load_answers(session, turn.id, asking["id"]) if asking else {}
    return Answers(by_call, frozenset(tools_allowed_in(conversation)))


def _resumed(steps: int, silence: float | None) -> str:
    """Return the notice about a lost worker that was silent for so many seconds."""
    said = f"Worker lost at step {steps + 1}, resumed"
    if silence is not None:
        said += f" after {silence:.{0 if silence >= 10 else 1}f} s"
    return f"{said}."


def _calls_left(session: Session, turn: TurnRow) -> list[DisplayMessage]:
    return open_calls(session, turn.conversation_id, turn.id, turn.message_position or 0)


def _take(
    session: Session, turn: TurnRow, worker: str, lease_seconds: float, losses: int
) -> float | None:
    """Write the claim; return for how long no worker held the turn, if that is known.

    `losses`: how many workers were lost in a row, if the turn has just lost one.
    """
    lost_before, has_sign = turn.lost_seconds, turn.heartbeat_at is not None
    taken = {
        "turn_id": turn.id,
        "by": worker,
        "lease": lease_seconds,
        "loss": int(losses > 0),
        "in_row": losses or turn.losses_in_row,
        "lost_at": turn.steps if losses else turn.lost_at_step,
        "entered": turn.message_position,
    }
    for name, value in session.execute(_TAKE, taken).mappings().one().items():
        set_committed_value(turn, name, value)
    return turn.lost_seconds - lost_before if has_sign else None


# Built once, as below: after losing a worker, hundreds of turns are claimed in a second.
_CLOCK = func.clock_timestamp()
_LEASE_IS_OVER = or_(TurnRow.lease_until.is_(None), TurnRow.lease_until < _CLOCK)
_LOCK = (
    select(ConversationRow, TurnRow, _LEASE_IS_OVER, NEWEST_NUMBER)
    .join(TurnRow, TurnRow.conversation_id == ConversationRow.id)
    .where(TurnRow.id == bindparam("turn_id"))
    .with_for_update(key_share=True)
)

_turns = cast(Table, TurnRow.__table__)
_LOSS = bindparam("loss", type_=Integer)
_SILENCE = func.greatest(func.coalesce(seconds_between(_CLOCK, _turns.c.heartbeat_at), 0), 0)
# What is written for a loss after which the turn is given up.
_LAST_LOSS = {
    "losses": _turns.c.losses + 1,
    "lost_at_step": _turns.c.steps,
    "lost_seconds": _turns.c.lost_seconds + _SILENCE,
}
_TAKEN = {
    "status": TurnStatus.RUNNING,
    "attempt": _turns.c.attempt + 1,
    "losses": _turns.c.losses + _LOSS,
    "losses_in_row": bindparam("in_row", type_=Integer),
    "lost_at_step": bindparam("lost_at", type_=Integer),
    "worker": bindparam("by"),
    "heartbeat_at": _CLOCK,
    "lost_seconds": _turns.c.lost_seconds + _LOSS * _SILENCE,
    "model_retry_at": None,
    "waits_for": None,
    "lease_until": _CLOCK + bindparam("lease", type_=Float) * text("interval '1 second'"),
    "started_at": func.coalesce(_turns.c.started_at, _CLOCK),
    "message_position": bindparam("entered"),
}
# By the table, not the class: the class would read all columns back over unflushed changes, such as
# the version made by the message of a turn that had to wait.
_TAKE = (
    update(_turns)
    .where(_turns.c.id == bindparam("turn_id"))
    .values(_TAKEN)
    .returning(*(_turns.c[name] for name in _TAKEN))
)
