"""Publishing what moving a plan changed, after the commit."""

from backend.schemas.events import TaskUpdated
from backend.turns.plan.graph_rows import Moved
from backend.turns.process.services import Services
from db.failpoints import failpoint


def tell_moved(services: Services, moved: Moved) -> None:
    """Announce the new turns, notify viewers, and wake the turn that was waiting."""
    failpoint("plan.moved")
    services.announcer.tell(moved.accepted)
    told = [TaskUpdated(context=moved.context, task=task) for task in moved.tasks]
    services.events.publish(moved.context.session_id, *told)
    if moved.goes_on:
        services.queue.wake(moved.goes_on)
