"""Claiming a turn: who may run it, from which state, under which attempt number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.orm import Session

from backend.agents.answers import Answers
from backend.approvals.allowed_tools import tools_allowed_in
from backend.approvals.store import load_answers, resume_after_decisions
from backend.auth.rights import Rights
from backend.auth.scope import Scope
from backend.conversations import views
from backend.conversations.messages import open_calls
from backend.conversations.state.store import StoredState
from backend.domains.template import template_of
from backend.errors.conversations import CorruptState
from backend.errors.people import PersonDisabled, RightsEnded
from backend.files.rows import has_documents
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn, TurnStatus
from backend.tools.asker import read_rights_in
from backend.tools.journal import CallKey, Recorded
from backend.turns.lifecycle import (
    MAX_LOSSES,
    check_transition,
    is_exhausted,
    is_finished,
    is_suspect,
    losses_in_row,
)
from backend.turns.process.fairness import may_run
from backend.turns.queries import change_turn, context_in, next_turn_id, wire_turn
from backend.turns.run.claim_rows import LAST_LOSS, LockedTurn, lock_turn, write_claim
from backend.turns.run.close import Closed, Outcome, close_turn, load_checked
from backend.turns.run.journal import load_journal
from backend.turns.submit.enter import show_message
from backend.types import JSON
from backend.usage.budgets import Budgets
from backend.usage.ledger import SessionDomain
from backend.usage.spent import Spent
from colloquy_kit.messages.display import notice
from colloquy_kit.messages.state import calling_message
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow

GIVEN_UP = Outcome.failed(
    "Worker lost",
    f"The worker was lost {MAX_LOSSES} times in a row at the same step of this turn, the last time"
    " while it ran nothing else, so the turn was given up. Saved steps are above. Press Retry to"
    " continue from there.",
)


@dataclass(frozen=True)
class Claim:
    """The right of one attempt to run and write a turn, and everything it starts from.

    `calls`: the display messages of calls that earlier attempts left without an outcome.
    `lost_worker`: the previous attempt lost its worker. `has_waited`: the turn waited for people,
    who have now decided; `answers` holds their decisions, `updated` the messages changed by them.
    `connection` is the number of the connection to models that is set on the page, if any; `role`
    is the role of the person who asked; `has_documents`: whether tools may read documents;
    `is_task`: whether a plan asked; `request`: which request the turn comes from.
    """

    turn: Turn
    attempt: int
    rights: Rights
    image: JSON
    context: EventContext
    stored: StoredState
    budgets: Budgets
    position: int
    added: Sequence[DisplayMessage]
    journal: Mapping[CallKey, Recorded]
    calls: Sequence[DisplayMessage] = ()
    lost_worker: bool = False
    answers: Answers = field(default_factory=Answers)
    has_waited: bool = False
    updated: Sequence[DisplayMessage] = ()
    connection: int | None = None
    role: str | None = None
    has_documents: bool = False
    is_task: bool = False
    request: JSON | None = None

    @property
    def turn_id(self) -> UUID:
        """Return the turn's id."""
        return self.turn.id

    @property
    def conversation_id(self) -> UUID:
        """Return the id of the turn's conversation."""
        return self.turn.session_id

    @property
    def scope(self) -> Scope:
        """Return the scope of who asked."""
        return self.rights.scope

    @property
    def spent(self) -> Spent:
        """Return what earlier attempts have spent."""
        return Spent(self.turn.usage_by_model)


class Suspect(NamedTuple):
    """A turn that only a process which runs nothing else may claim."""

    turn_id: UUID


class _Taken(NamedTuple):
    """What taking a turn added, whether its worker was lost, whether it waited for people."""

    added: list[DisplayMessage]
    lost_worker: bool
    has_waited: bool


def claim_turn(
    session: Session,
    turn_id: UUID,
    worker: str,
    lease_seconds: float,
    at_once: int,
    *,
    is_alone: bool = False,
) -> Claim | Closed | Suspect | None:
    """Claim a turn that is queued, has lost its worker, or waited for people who have decided.

    Return None if it cannot be claimed: finished, deleted, run by another worker, behind another
    turn, or its owner already runs `at_once` turns.
    A turn that is to be stopped, or that lost too many workers without saving a step in between,
    is closed instead. `is_alone`: the process runs nothing else, so it may claim a suspect.
    """
    held = lock_turn(session, turn_id)
    if held is None or not _may_claim(session, held.turn, held.lease_is_over, at_once):
        return None
    turn = held.turn
    rights = _rights_or_end(session, turn)
    if isinstance(rights, Closed):
        return rights
    if is_suspect(_losses(turn)) and not is_alone:
        return Suspect(turn.id)
    taken = _take(session, turn, worker, lease_seconds)
    try:
        stored = load_checked(session, turn.conversation_id)
    except CorruptState as error:
        return close_turn(session, turn, Outcome.failed(error.title, error.detail))
    return _build(session, held, taken, stored, rights)


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


def _rights_or_end(session: Session, turn: TurnRow) -> Rights | Closed:
    """Return what who asked may do now; close the turn if it is not to run.

    It is not if it is to be stopped, if they may not go on, or if it lost too many workers.
    """
    if turn.stop_requested:
        return close_turn(session, turn, Outcome.stopped())
    try:
        rights = read_rights_in(session, turn.owner_id, turn.conversation_id)
    except (PersonDisabled, RightsEnded) as error:
        return close_turn(session, turn, Outcome.failed(error.title, error.detail))
    in_row = _losses(turn)
    if is_exhausted(in_row):
        change_turn(session, turn, **LAST_LOSS, losses_in_row=in_row)
        return close_turn(session, turn, GIVEN_UP)
    return rights


def _losses(turn: TurnRow) -> int:
    """Return how many workers were lost in a row, with the one that the turn has just lost."""
    if turn.worker is None:
        return turn.losses_in_row if turn.lost_at_step == turn.steps else 0
    return losses_in_row(turn.losses_in_row, turn.lost_at_step, turn.steps)


def _take(session: Session, turn: TurnRow, worker: str, lease_seconds: float) -> _Taken:
    """Take the turn for this worker; show its message, if that is new, and a worker lost."""
    added = [show_message(session, turn)] if turn.message_position is None else []
    is_lost, has_waited = turn.worker is not None, turn.status == TurnStatus.WAITING
    check_transition(TurnStatus(turn.status), TurnStatus.RUNNING)
    silence = write_claim(session, turn, worker, lease_seconds, _losses(turn) if is_lost else 0)
    if is_lost:
        resumed = notice(_resumed(turn.steps, silence))
        change = views.Change(drafts=[resumed])
        added += views.append(session, turn.conversation_id, turn.id, change).added
    return _Taken(added, is_lost, has_waited)


def _build(
    session: Session, held: LockedTurn, taken: _Taken, stored: StoredState, rights: Rights
) -> Claim:
    """Return the claim of a turn that was taken, with everything it starts from."""
    conversation, turn = held.conversation, held.turn
    scope = rights.scope
    asking = calling_message(stored.state)
    updated: list[DisplayMessage] = []
    if taken.has_waited:
        updated, stored = resume_after_decisions(session, turn, stored)
    return Claim(
        turn=wire_turn(turn),
        attempt=turn.attempt,
        rights=rights,
        image=conversation.image,
        context=context_in(conversation, turn),
        stored=stored,
        budgets=_budgets(conversation),
        position=taken.added[-1].position if taken.added else conversation.message_count,
        added=taken.added,
        journal=load_journal(session, turn.id, asking["id"]) if asking else {},
        calls=_calls_left(session, turn) if asking or turn.attempt > 1 else (),
        lost_worker=taken.lost_worker,
        answers=_answers(session, conversation, turn, asking),
        has_waited=taken.has_waited,
        updated=updated,
        connection=held.connection,
        role=scope.role if scope.name else turn.role,  # of who is unknown here, as it was
        has_documents=has_documents(session, scope, conversation.id),
        is_task=conversation.parent_id is not None,
        request=turn.request,
    )


def _budgets(conversation: ConversationRow) -> Budgets:
    """Return what the turn may use."""
    domain = SessionDomain(conversation.domain_id, conversation.domain_name)
    return Budgets(template_of(conversation.image).limits, domain, conversation.team)


def _answers(
    session: Session, conversation: ConversationRow, turn: TurnRow, asking: JSON | None
) -> Answers:
    """Return people's decisions on the pending calls, and the tools that they always allow."""
    by_call = load_answers(session, turn.id, asking["id"]) if asking else {}
    return Answers(by_call, frozenset(tools_allowed_in(conversation)))


def _resumed(steps: int, silence: float | None) -> str:
    """Return the notice about a lost worker that was silent for so many seconds."""
    sentence = f"Worker lost at step {steps + 1}, resumed"
    if silence is not None:
        sentence += f" after {silence:.{0 if silence >= 10 else 1}f} s"
    return f"{sentence}."


def _calls_left(session: Session, turn: TurnRow) -> list[DisplayMessage]:
    return open_calls(session, turn.conversation_id, turn.id, turn.message_position or 0)
