"""The wire contract of plans: task graphs that managers run, and their tasks."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.turns import ErrorSummary, Usage
from backend.schemas.wire import Input, Wire
from backend.types import JSON


class OnFailure(StrEnum):
    """What follows a failed task: retry it, skip what depends on it, or ask a person."""

    RETRY = "retry"
    SKIP = "skip"
    ASK = "ask"


class TaskStatus(StrEnum):
    """pending -> running -> succeeded, failed, skipped or stopped; asking: awaits a decision."""

    PENDING = "pending"
    RUNNING = "running"
    ASKING = "asking"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    STOPPED = "stopped"


class PlanStatus(StrEnum):
    """running <-> waiting (a task asks) -> succeeded, failed or stopped."""

    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class Task(Wire):
    """A node of a plan. Its work is done, and its messages are kept, in session `session_id`."""

    id: UUID
    plan_id: UUID
    parent_id: UUID = Field(description="The session whose manager made the plan.")
    temp_id: str
    name: str
    description: str
    agent: str
    depends_on: list[str]
    input: JSON | None
    on_failure: OnFailure
    status: TaskStatus
    waiting_for_approval: bool = Field(
        False,
        description="It is running, and a tool call awaits a decision; see `/approvals`.",
    )
    tries: int
    steps: int = Field(0, description="Steps that its turn has saved so far.")
    usage: Usage | None = None
    session_id: UUID | None
    turn_id: UUID | None
    output: JSON | None = Field(
        description="Its result: `text`, the keys of an answer that is a JSON object, `columns` and"
        " `rows` of its last table, `artifacts`. Cuts are noted; the session has everything."
    )
    error: ErrorSummary | None
    started_at: datetime | None
    finished_at: datetime | None


class Plan(Wire):
    """A task graph, or a call of a sub-agent, which is a plan of one task."""

    id: UUID
    session_id: UUID
    turn_id: UUID
    call_id: str = Field(
        description="The tool call of the turn that made it; a `taskGraph` counts as one."
    )
    kind: Literal["plan", "sub_agent"]
    name: str
    reasoning: str
    status: PlanStatus
    tasks: list[Task]
    created_at: datetime
    finished_at: datetime | None


class PlanList(Wire):
    """The plans of a session, in order."""

    items: list[Plan]


class TaskPage(Wire):
    """Tasks in all sessions that the caller may see, newest first."""

    items: list[Task]
    next_cursor: str | None


class TaskDecision(Input):
    """What to do about a failed task that awaits a decision."""

    decision: Literal["retry", "skip", "stop"]
