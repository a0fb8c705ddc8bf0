"""Telling those who watch, and waking who is next, once a turn's end is committed."""

from typing import Any

from backend.events.stream import Event
from backend.schemas.sessions import EventName
from backend.turns.process.services import Services
from backend.turns.run.close import Closed


def publish_closed(services: Services, closed: Closed) -> None:
    """Tell those who watch how a turn ended; wake the turn after it."""
    position = closed.added[-1].position if closed.added else 0

    def event(name: EventName, **data: Any) -> Event:
        return Event(name, closed.context, data, position)

    services.events.publish(
        closed.turn.session_id,
        *(event(EventName.MESSAGE_UPDATED, message=row) for row in closed.updated),
        *(event(EventName.MESSAGE_ADDED, message=row) for row in closed.added),
        event(EventName.TURN_FINISHED, turn=closed.turn),
    )
    if closed.next_turn:
        services.queue.wake(closed.next_turn)
