"""Turns: read, stop, retry, edit and rate them, and decide on their calls."""

from uuid import UUID

from fastapi import APIRouter

from backend.api.dependencies import AskScope, IdempotencyKey, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.schemas.approvals import Decisions
from backend.schemas.conversations.branches import MessageEdit
from backend.schemas.conversations.feedback import Feedback, NewFeedback
from backend.schemas.conversations.turns import Turn
from backend.turns import feedback
from backend.turns.control.decide import decide_turn
from backend.turns.control.stop import stop_turn
from backend.turns.history import retry as retrying
from backend.turns.queries import find_turn, turn_of
from backend.turns.submit.service import Submission

router = APIRouter(prefix="/turns", tags=["turns"])


@router.get("/{turn_id}")
def get_turn(turn_id: UUID, services: ServicesDep, scope: ReadScope) -> Turn:
    """One turn: status, attempts, usage, times, error."""
    with services.database.read() as session:
        return turn_of(session, find_turn(session, scope, turn_id))


@router.post("/{turn_id}/stop")
def stop(turn_id: UUID, services: ServicesDep, scope: AskScope) -> Turn:
    """Stop a turn; if it has ended, nothing changes."""
    return stop_turn(services, scope, turn_id)


@router.post("/{turn_id}/decisions")
def decide(turn_id: UUID, body: Decisions, services: ServicesDep, scope: AskScope) -> Turn:
    """Decide on every pending call of a turn, in order; the turn then resumes.

    Repeating the same decisions changes nothing; different ones are refused with 409, which says
    who decided.
    """
    return decide_turn(services, scope, turn_id, body.decisions)


@router.post("/{turn_id}/retry", status_code=202)
def retry(
    turn_id: UUID,
    services: ServicesDep,
    scope: AskScope,
    idempotency_key: IdempotencyKey = None,
) -> Turn:
    """Ask for another answer; returns the new turn.

    The latest turn, if it failed or was stopped, is resumed where it ended. Otherwise the session
    is forked before the turn's message; the previous branch keeps what was said. A task's turn can
    only be retried by its plan (409): see `/tasks/{task_id}/decision`.
    """
    return retrying.retry(services, scope, turn_id, idempotency_key)


@router.post("/{turn_id}/edit", status_code=202)
def edit(
    turn_id: UUID,
    body: Sent[MessageEdit],
    services: ServicesDep,
    scope: AskScope,
    idempotency_key: IdempotencyKey = None,
) -> Turn:
    """Fork the session before a turn's message and send this one instead; returns the new turn."""
    submission = Submission(body.message, agent=body.agent, key=idempotency_key, model=body.model)
    return retrying.edit(services, scope, turn_id, submission)


@router.post("/{turn_id}/feedback")
def give_feedback(
    turn_id: UUID, body: Sent[NewFeedback], services: ServicesDep, scope: AskScope
) -> Feedback:
    """Rate the answer of a turn that has ended; this replaces one's earlier rating of it."""
    with services.database.transaction() as session:
        return feedback.give(session, scope, turn_id, body)


@router.delete("/{turn_id}/feedback", status_code=204)
def take_feedback_back(turn_id: UUID, services: ServicesDep, scope: AskScope) -> None:
    """Delete one's own rating of a turn; if there is none, nothing changes."""
    with services.database.transaction() as session:
        feedback.take_back(session, scope, turn_id)
