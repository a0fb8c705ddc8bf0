"""Telling what moving a plan has changed, once that is committed."""

from backend.schemas.events import TaskUpdated
from backend.turns.plan.graph_rows import Moved
from backend.turns.process.services import Services
from db.failpoints import failpoint


def tell_moved(services: Services, moved: Moved) -> None:
    """Have the new turns announced, tell those who watch, and wake the turn that has waited."""
    failpoint("plan.moved")
    services.announcer.tell(moved.accepted)
    told = [TaskUpdated(context=moved.context, task=task) for task in moved.tasks]
    services.events.publish(moved.context.session_id, *told)
    if moved.goes_on:
        services.queue.wake(moved.goes_on)
