"""Stopping turns, and deleting a session along with what runs in it."""

from uuid import UUID

from backend import audit
from backend.artifacts import erasing as artifacts
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.removal import hold_children
from backend.conversations.reviews import record_review
from backend.errors.plans import SessionOfTask
from backend.errors.turns import TurnNotFound
from backend.files.erasing import erase_deleted
from backend.schemas.conversations.turns import Turn
from backend.schemas.events import Progress
from backend.turns.plan.moving import stop_plans
from backend.turns.process.services import Services
from backend.turns.queries import context_of, find_turn, latest_turn, list_unfinished, turn_of
from backend.turns.run.publish import publish_closed
from backend.turns.run.stopping import stop_row
from backend.usage.ledger import SessionDomain, hold_unfinished, record_usage
from db.session import Database


def stop_turn(services: Services, scope: Scope, turn_id: UUID) -> Turn:
    """Stop a turn: immediately if no worker runs it, otherwise through its worker in a moment.

    Stopping a finished turn changes nothing. Raise TurnNotFound.
    """
    with services.database.transaction() as session:
        turn = find_turn(session, scope, turn_id)
        held = conversations.lock(session, scope, turn.conversation_id)
        session.refresh(turn)
        was_stopping = turn.stop_requested
        closed = stop_row(session, turn)
        if closed or turn.stop_requested > was_stopping:
            details = {"turn_id": str(turn_id)}
            record_review(session, scope.user_id, held.owner_id, held.id, "stopped", details)
        answer = closed.turn if closed else turn_of(session, turn)
        context = context_of(session, turn)
    if closed:
        services.announcer.settle()  # publish that it was queued before that it has ended
        publish_closed(services, closed)
    elif answer.stop_requested and not was_stopping:
        stopping = Progress(context=context, state="stopping")
        services.events.publish(answer.session_id, stopping)
    return answer


def stop_session(services: Services, scope: Scope, session_id: UUID) -> Turn:
    """Stop the session's first unfinished turn; the next queued one follows.

    If all have ended, nothing changes and the latest one is returned.
    Raise SessionNotFound, and TurnNotFound for a session that never had a turn.
    """
    with services.database.read() as session:
        conversations.check_visible(session, scope, session_id)
        first = next(iter(list_unfinished(session, session_id)), None)
        turn = first or latest_turn(session, session_id)
    if turn is None:
        raise TurnNotFound("Nothing is running in this session.")
    return stop_turn(services, scope, turn.id)


def delete_session(services: Services, scope: Scope, session_id: UUID) -> None:
    """Delete a session; a turn that runs in it loses its lease and is cancelled by its worker.

    Its files, its artifacts and the sessions of its tasks are erased with it. Their usage stays
    in the ledger.

    Raise SessionNotFound, and SessionOfTask for one that is only deleted with its parent.
    """
    _end_plans(services.database, scope, session_id)
    with services.database.transaction() as session:
        children = hold_children(session, session_id)
        held = conversations.lock(session, scope, session_id)
        domain = SessionDomain(held.domain_id, held.domain_name)
        unfinished = [
            one for each in (session_id, *children) for one in hold_unfinished(session, each)
        ]
        conversations.remove(session, scope, session_id)
        details = {"owner": held.owner_id, "domain": domain.name}
        audit.record(session, scope.user_id, "deleted", "session", session_id, details)
        for owner_id, spent in unfinished:
            record_usage(session, owner_id, domain, spent)
    for each in (session_id, *children):
        services.events.forget(each)
    erase_deleted(services.database, services.files)
    artifacts.erase_deleted(services.database, services.artifacts.contents.store)


def _end_plans(database: Database, scope: Scope, session_id: UUID) -> None:
    """End the session's plans so that no more tasks begin, in a transaction of its own.

    Moving an open plan would create sessions inside the one being deleted.
    """
    with database.transaction() as session:
        if conversations.lock(session, scope, session_id).parent_id is not None:
            raise SessionOfTask
        for turn in list_unfinished(session, session_id):
            stop_plans(session, turn)
