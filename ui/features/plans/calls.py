"""API calls for plans and their tasks."""

from uuid import UUID

from backend.schemas.tasks import PlanList, Task, TaskDecision, TaskPage, TaskStatus
from ui.client import Client


def list_plans(client: Client, session_id: UUID) -> PlanList:
    """Return the plans of a session, with their tasks."""
    return client.get(PlanList, f"sessions/{session_id}/tasks")


def list_tasks(
    client: Client,
    *,
    status: TaskStatus | None = None,
    cursor: str | None = None,
    everyone: bool = False,
    limit: int = 50,
) -> TaskPage:
    """Return a page of tasks over all sessions; `everyone` is for administrators."""
    scope = "all" if everyone else None
    return client.get(TaskPage, "tasks", status=status, cursor=cursor, scope=scope, limit=limit)


def decide(client: Client, task_id: UUID, decision: TaskDecision) -> Task:
    """Decide what follows a failed task that asks."""
    path = f"tasks/{task_id}/decision"
    return client.call(Task, "POST", path, json=decision.model_dump(mode="json"))
