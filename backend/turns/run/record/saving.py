"""What a running attempt writes in one transaction: a step, or which agent has the turn."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from backend.agents.steps.events import Interrupted, StepFinished, TurnRouted
from backend.approvals.store import request_approvals, requeue_if_decided
from backend.conversations import views
from backend.conversations.display import CallMove
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import StoredState
from backend.schemas.conversations.turns import Turn
from backend.turns.ownership import hold_conversation
from backend.turns.plan.graph_rows import PlanChanges
from backend.turns.plan.moving import find_running_task
from backend.turns.queries import change_turn, let_wait, wire_turn
from backend.turns.run.attempt import count_step, hold_turn
from backend.turns.run.claim import Claim
from backend.turns.run.model_calls import ModelCallLog
from backend.turns.run.record.drafts import drafts_of
from backend.types import JSON
from backend.usage.spent import Spent
from db.failpoints import failpoint


class StepBase(NamedTuple):
    """What an attempt writes from: its claim, the stored state, and calls to be recorded."""

    claim: Claim
    stored: StoredState
    asked: ModelCallLog


class SavedStep(NamedTuple):
    """What a step wrote; whether the turn is to stop, or no longer waits for anything.

    `task`: the task that this turn runs, if it waits for people from now on.
    """

    written: views.Written
    stop: bool
    goes_on: bool
    task: PlanChanges | None


def save_step(
    session: Session,
    begun: StepBase,
    step: StepFinished,
    waits: Interrupted | None,
    spent: Spent,
    moves: Sequence[CallMove],
) -> SavedStep:
    """Write a step: rows, state, usage; make the turn wait if its calls do. Raise LeaseLost."""
    claim, stored, asked = begun
    conversation_id, turn = claim.conversation_id, claim.turn
    if waits:
        hold_conversation(session, conversation_id)
    delta = diff_states(stored.state, step.state)
    change = views.Change(
        drafts=drafts_of(step, stored.state, delta, turn.agent),
        moves=moves,
        delta=delta,
        version=stored.version,
        requests=asked.record(session, conversation_id, step.state["messages"]),
    )
    written = views.append(session, conversation_id, turn.id, change)
    stop = count_step(session, claim, spent, step.messages)
    goes_on = _wait(session, claim, waits, written) if waits and not stop else False
    has_asked = waits is not None and bool(waits.asked) and not stop
    task = find_running_task(session, conversation_id) if has_asked else None
    return SavedStep(written, stop, goes_on, task)


def save_route(
    session: Session, begun: StepBase, routed: TurnRouted, route: JSON, spent: Spent
) -> Turn:
    """Write which agent has the turn from now on and the state it starts from. Raise LeaseLost."""
    claim, stored, asked = begun
    turn = hold_turn(session, claim)
    change = views.Change(
        delta=diff_states(stored.state, routed.state),
        version=stored.version,
        requests=asked.record(session, claim.conversation_id, routed.state["messages"]),
    )
    views.append(session, claim.conversation_id, turn.id, change)
    change_turn(session, turn, agent=routed.agent, route=route, usage=spent.dump())
    return wire_turn(turn)


def _wait(session: Session, claim: Claim, waits: Interrupted, written: views.Written) -> bool:
    """Make the turn wait; return whether everything it waits for has already ended."""
    turn = claim.turn
    if waits.asked:
        asked = (claim.conversation_id, turn.id, turn.agent, waits.asked)
        written.added.extend(request_approvals(session, *asked))
    let_wait(session, turn.id, waits.waits_for)
    goes_on = bool(waits.plans) and requeue_if_decided(session, turn.id)
    failpoint("approval.requested")
    return goes_on
