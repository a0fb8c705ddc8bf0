"""Telling those who watch, and waking who is next, once a turn's end is committed."""

from backend.schemas.events import MessageAdded, MessageUpdated, TurnFinished
from backend.turns.process.services import Services
from backend.turns.run.close import Closed


def publish_closed(services: Services, closed: Closed) -> None:
    """Tell those who watch how a turn ended; wake the turn after it."""
    context = closed.context
    services.events.publish(
        closed.turn.session_id,
        *(MessageUpdated(context=context, message=row) for row in closed.updated),
        *(MessageAdded(context=context, message=row) for row in closed.added),
        TurnFinished(context=context, turn=closed.turn),
        position=closed.added[-1].position if closed.added else 0,
    )
    if closed.next_turn:
        services.queue.wake(closed.next_turn)
