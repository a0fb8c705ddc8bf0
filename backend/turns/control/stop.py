"""Stopping turns, and deleting a session with what runs in it."""

from uuid import UUID

from sqlalchemy import func
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.errors.turns import TurnNotFound
from backend.files.erasing import erase_deleted
from backend.schemas.conversations.sessions import Turn, TurnStatus
from backend.schemas.events import Progress
from backend.turns.lifecycle import is_finished
from backend.turns.process.services import Services
from backend.turns.queries import context_of, find_turn, latest_turn, list_unfinished, turn_of
from backend.turns.run.claim import lease_is_over
from backend.turns.run.close import Closed, Outcome, close_turn
from backend.turns.run.publish import publish_closed
from backend.usage.ledger import hold_unfinished, record_usage
from db.models.turns.turn import TurnRow


def stop_turn(services: Services, scope: Scope, turn_id: UUID) -> Turn:
    """Stop a turn: at once where no worker is at it, else its worker hears of it in a moment.

    Stopping a finished turn changes nothing. Raise TurnNotFound.
    """
    with services.database.transaction() as session:
        turn = find_turn(session, scope, turn_id)
        conversations.lock(session, scope, turn.conversation_id)
        session.refresh(turn)
        was_stopping = turn.stop_requested
        closed = _stop(session, turn)
        answer = closed.turn if closed else turn_of(session, turn)
        context = context_of(session, turn)
    if closed:
        services.announcer.settle()  # that it was queued is told before that it has ended
        publish_closed(services, closed)
    elif answer.stop_requested and not was_stopping:
        stopping = Progress(context=context, state="stopping")
        services.events.publish(answer.session_id, stopping)
    return answer


def stop_session(services: Services, scope: Scope, session_id: UUID) -> Turn:
    """Stop the session's first unfinished turn; the next queued one follows.

    Where all have ended nothing changes, and the latest one is given.
    Raise SessionNotFound, and TurnNotFound for a session that never had a turn.
    """
    with services.database.read() as session:
        conversations.get(session, scope, session_id)
        first = next(iter(list_unfinished(session, session_id)), None)
        turn = first or latest_turn(session, session_id)
    if turn is None:
        raise TurnNotFound("Nothing is running in this session.")
    return stop_turn(services, scope, turn.id)


def delete_session(services: Services, scope: Scope, session_id: UUID) -> None:
    """Delete a session; a turn that runs in it loses its lease and is cancelled by its worker.

    Its files are erased with it. What it has used stays in the ledger.

    Raise SessionNotFound.
    """
    with services.database.transaction() as session:
        domain_name = conversations.lock(session, scope, session_id).domain_name
        unfinished = hold_unfinished(session, session_id)
        conversations.remove(session, scope, session_id)
        for owner_id, spent in unfinished:
            record_usage(session, owner_id, domain_name, spent)
    services.events.forget(session_id)
    erase_deleted(services.database, services.files)


def _stop(session: Session, turn: TurnRow) -> Closed | None:
    """Close the turn if no worker is at it, else leave the wish for its worker to find."""
    status = TurnStatus(turn.status)
    if is_finished(status):
        return None
    if status is TurnStatus.RUNNING and not lease_is_over(session, turn):
        if not turn.stop_requested:
            turn.stop_requested, turn.stop_requested_at = True, func.clock_timestamp()
            session.flush()
        return None
    return close_turn(session, turn, Outcome.stopped())
