"""Publishing what moving a plan changed, after the commit."""

from backend.schemas.events import TaskUpdated
from backend.turns.plan.graph_rows import PlanChanges
from backend.turns.process.services import Services
from db.failpoints import failpoint


def publish_plan_changes(services: Services, changes: PlanChanges) -> None:
    """Announce the new turns, notify viewers, and wake the turn that was waiting."""
    failpoint("plan.moved")
    services.announcer.tell(changes.accepted)
    events = [TaskUpdated(context=changes.context, task=task) for task in changes.tasks]
    services.events.publish(changes.context.session_id, *events)
    if changes.goes_on:
        services.queue.wake(changes.goes_on)
