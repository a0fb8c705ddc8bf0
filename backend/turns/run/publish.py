"""Notifying viewers and waking the next turn once a turn's end is committed."""

from collections.abc import Iterable
from uuid import UUID

from backend.schemas.events import MessageAdded, MessageUpdated, TurnFinished
from backend.telemetry.figures import WORK
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.process.services import Services
from backend.turns.run.close import Closed
from backend.turns.run.stopping import stop_task_turn


def publish_closed(services: Services, closed: Closed) -> None:
    """Publish how a turn ended, and wake the turn after it."""
    context, turn = closed.context, closed.turn
    if turn.finished_at:
        WORK.turn_ended(turn.status, (turn.finished_at - turn.created_at).total_seconds())
    services.events.publish(
        turn.session_id,
        *(MessageUpdated(context=context, message=row) for row in closed.updated),
        *(MessageAdded(context=context, message=row) for row in closed.added),
        TurnFinished(context=context, turn=turn),
        position=closed.added[-1].position if closed.added else 0,
    )
    if closed.next_turn:
        services.queue.wake(closed.next_turn)
    for changes in closed.plan_changes:
        publish_plan_changes(services, changes)
        stop_tasks(services, changes.to_stop)


def stop_tasks(services: Services, turn_ids: Iterable[UUID]) -> None:
    """Stop the turns of tasks whose plan has ended; the sweeper finds any missed here."""
    for turn_id in turn_ids:
        with services.database.transaction() as session:
            closed = stop_task_turn(session, turn_id)
        if closed:
            publish_closed(services, closed)
