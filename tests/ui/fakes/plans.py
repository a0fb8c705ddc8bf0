"""The part of the fake API that holds plans and their tasks."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI

from backend.schemas.events import TaskUpdated
from backend.schemas.tasks import (
    Plan,
    PlanList,
    PlanStatus,
    Task,
    TaskDecision,
    TaskPage,
    TaskStatus,
)
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType


class FakePlans:
    """What the fake knows of plans; tests fill it and read it."""

    def __init__(self, store):
        self.store = store
        self.plans: list[Plan] = []
        self.decisions: list[tuple[UUID, str]] = []

    def start(self, turn, tasks, name="Reconcile FI and BPC", kind="plan") -> Plan:
        """Let a turn call for a plan: `tasks` are ids with what each depends on."""
        session = self.store.sessions[turn.session_id]
        plan_id, now = uuid4(), datetime.now(UTC)
        made = [
            Task(
                id=uuid4(), plan_id=plan_id, parent_id=session.id, temp_id=temp_id,
                name=f"Task {temp_id}", description=f"Does {temp_id}.", agent="Reconciler",
                depends_on=list(before), input=None, on_failure="retry",
                status=TaskStatus.PENDING, tries=0, session_id=None, turn_id=None, output=None,
                error=None, started_at=None, finished_at=None,
            )
            for temp_id, before in tasks.items()
        ]  # fmt: skip
        call_id = f"p{len(self.plans)}"
        plan = Plan(
            id=plan_id, session_id=session.id, turn_id=turn.id, call_id=call_id, kind=kind,
            name=name,
            reasoning="Both sides are compared first.", status=PlanStatus.RUNNING, tasks=made,
            created_at=now, finished_at=None,
        )  # fmt: skip
        self.plans.append(plan)
        tool = "run_plan" if kind == "plan" else "call_agent"
        arguments = {"workflowName": name} if kind == "plan" else {"name": "Reconciler"}
        call = {"call_id": call_id, "name": tool, "arguments": arguments}
        self.store.add_row(
            session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn,
            status=MessageStatus.EXECUTING, agent="Sage",
        )  # fmt: skip
        return plan

    def update(self, plan, temp_id, status, **fields) -> Task:
        """Let a task be in another status, and tell of it."""
        task = next(task for task in plan.tasks if task.temp_id == temp_id)
        values = {"status": status, "started_at": datetime.now(UTC)} | fields
        for name, value in values.items():
            setattr(task, name, value)
        turn = self.store.turns[plan.turn_id]
        self.store.publish(turn, TaskUpdated, task=task)
        return task

    def tasks(self) -> list[Task]:
        return [task for plan in self.plans for task in plan.tasks]


def add_plan_routes(app: FastAPI, held: FakePlans, api: str) -> None:
    @app.get(f"{api}/sessions/{{session_id}}/tasks")
    def plans(session_id: UUID) -> PlanList:
        return PlanList(items=[plan for plan in held.plans if plan.session_id == session_id])

    @app.get(f"{api}/tasks")
    def tasks(
        status: TaskStatus | None = None, scope: str = "mine", cursor: str | None = None,
        limit: int = 50,
    ) -> TaskPage:  # fmt: skip
        user, sessions = held.store.server.user, held.store.sessions
        found = [
            task
            for task in held.tasks()
            if status in (None, task.status)
            and (scope == "all" or sessions[task.parent_id].owner == user)
        ]
        return TaskPage(items=found[::-1][:limit], next_cursor=None)

    @app.post(f"{api}/tasks/{{task_id}}/decision")
    def decide(task_id: UUID, body: TaskDecision) -> Task:
        held.decisions.append((task_id, body.decision))
        task = next(task for task in held.tasks() if task.id == task_id)
        task.status = TaskStatus.PENDING if body.decision == "retry" else TaskStatus.SKIPPED
        return task
