"""Repairing plans that a process left inconsistent by dying between two transactions."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.logs.fields import only_fields
from backend.schemas.conversations.turns import ErrorSummary
from backend.schemas.tasks import TaskStatus
from backend.turns.lifecycle import UNFINISHED
from backend.turns.plan.graph_rows import OPEN_PLANS
from backend.turns.plan.moving import lose_task
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.process.services import Services
from backend.turns.run.publish import stop_tasks
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow

BATCH = 200
LOST = ErrorSummary(title="Task lost", detail="The session of this task was deleted.")


def repair_plans(services: Services) -> None:
    """Stop tasks still running after their plan has ended; fail those whose turn is gone."""
    with services.database.read() as session:
        to_stop = list(session.scalars(_TO_STOP))
        lost = list(session.execute(_LOST).tuples())
    for turn_id in to_stop:
        with only_fields(turn=turn_id):
            stop_tasks(services, [turn_id])
    for task_id, plan_id in lost:
        with only_fields(task=task_id):
            _lose(services, task_id, plan_id)


def _lose(services: Services, task_id: UUID, plan_id: UUID) -> None:
    with services.database.transaction() as session:
        is_lost = _is_lost(session, task_id)
        changes = lose_task(session, task_id, plan_id, LOST) if is_lost else None
    if changes:
        publish_plan_changes(services, changes)


def _is_lost(session: Session, task_id: object) -> bool:
    return session.scalar(_LOST.where(TaskRow.id == task_id)) is not None


_RUNNING = TaskRow.status == TaskStatus.RUNNING
_TO_STOP = (
    select(TurnRow.id)
    .join(TaskRow, TaskRow.turn_id == TurnRow.id)
    .join(PlanRow, PlanRow.id == TaskRow.plan_id)
    .where(_RUNNING, PlanRow.status.not_in(OPEN_PLANS))
    .where(TurnRow.status.in_(UNFINISHED), ~TurnRow.stop_requested)
    .limit(BATCH)
)
_LOST = (
    select(TaskRow.id, TaskRow.plan_id)
    .outerjoin(TurnRow, TurnRow.id == TaskRow.turn_id)
    .where(_RUNNING)
    .where(TurnRow.id.is_(None) | TurnRow.status.not_in(UNFINISHED))
    .limit(BATCH)
)
