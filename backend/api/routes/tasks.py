"""Plans and their tasks, of one session or of all; and decisions on failed tasks."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import large
from backend.schemas.ids import SessionId
from backend.schemas.tasks import PlanList, Task, TaskDecision, TaskPage, TaskStatus
from backend.turns.control.decide_task import decide_task
from backend.turns.plan.reading import list_plans, list_tasks

router = APIRouter(tags=["tasks"])
Whose = Annotated[Literal["mine", "all"], Query(alias="scope", description="`all` is for admins.")]


@router.get("/sessions/{session_id}/tasks")
@large
def get_plans(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> PlanList:
    """Return the plans of a session, in order, each with all its tasks."""
    with services.database.read() as session:
        return list_plans(session, scope, session_id)


@router.get("/tasks")
@large
def get_tasks(
    services: ServicesDep,
    scope: ReadScope,
    status: TaskStatus | None = None,
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
    cursor: Text | None = None,
    everyone: Whose = "mine",
) -> TaskPage:
    """One page of tasks in all sessions, those of the newest plan first."""
    with services.database.read() as session:
        return list_tasks(
            session, scope, status, everyone=everyone == "all", cursor=cursor, limit=limit
        )


@router.post("/tasks/{task_id}/decision")
def decide(task_id: UUID, body: TaskDecision, services: ServicesDep, scope: AskScope) -> Task:
    """Decide what follows a failed task: `retry` it, `skip` what depends on it, or `stop`.

    A task that does not await a decision is refused with 409.
    """
    return decide_task(services, scope, task_id, body)
