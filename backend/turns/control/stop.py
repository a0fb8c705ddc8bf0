"""Stopping turns."""

from uuid import UUID

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.reviews import record_act
from backend.errors.turns import TurnNotFound
from backend.schemas.conversations.turns import Turn
from backend.schemas.events import Progress
from backend.schemas.people.rights import Permission, Right
from backend.turns.process.services import Services
from backend.turns.queries import context_of, find_turn, latest_turn, list_unfinished, turn_of
from backend.turns.run.publish import publish_closed
from backend.turns.run.stopping import stop_row


def stop_turn(services: Services, scope: Scope, turn_id: UUID) -> Turn:
    """Stop a turn: immediately if no worker runs it, otherwise through its worker in a moment.

    Stopping a finished turn changes nothing. Raise TurnNotFound.
    """
    with services.database.transaction() as session:
        turn = find_turn(session, scope, turn_id, unless=Permission.OPERATE)
        held = conversations.lock(session, scope, turn.conversation_id, unless=Permission.OPERATE)
        session.refresh(turn)
        was_stopping = turn.stop_requested
        closed = stop_row(session, turn)
        if closed or turn.stop_requested > was_stopping:
            details = {"turn_id": str(turn_id)}
            record_act(session, scope.user_id, held.owner_id, held.id, "stopped", details)
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
        conversations.check_visible(session, scope, session_id, Right.CONTINUE)
        first = next(iter(list_unfinished(session, session_id)), None)
        turn = first or latest_turn(session, session_id)
    if turn is None:
        raise TurnNotFound("Nothing is running in this session.")
    return stop_turn(services, scope, turn.id)
