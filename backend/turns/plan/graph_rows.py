"""A plan's tasks while the plan is moved: read under its turn's lock, changed one by one."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.planning.graph import plan_status
from backend.schemas.conversations.sessions import EventContext
from backend.schemas.conversations.turns import ErrorSummary
from backend.schemas.tasks import PlanStatus, Task, TaskStatus
from backend.turns.process.announcer import Accepted
from backend.types import JSON
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow

OPEN_PLANS = (PlanStatus.RUNNING, PlanStatus.WAITING)


@dataclass
class TaskNode:
    """A task without its large fields."""

    id: UUID
    temp_id: str
    agent: str
    depends_on: list[str]
    on_failure: str
    status: str
    tries: int
    session_id: UUID | None
    turn_id: UUID | None


@dataclass
class PlanChanges:
    """What moving a plan changed, to be published after the commit.

    `context` says where its events belong: the turn that waits for the plan. `goes_on` is that
    turn, if it waits for nothing any more. `to_stop` are task turns that have yet to be stopped.
    """

    context: EventContext
    tasks: list[Task] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    to_stop: list[UUID] = field(default_factory=list)
    goes_on: UUID | None = None


@dataclass
class Graph:
    """A plan that this transaction holds, and what the transaction changed."""

    plan_id: UUID
    status: str
    turn: TurnRow
    parent: ConversationRow
    nodes: list[TaskNode]
    changed: set[UUID] = field(default_factory=set)
    outputs: dict[str, JSON] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Return whether the plan has not ended."""
        return self.status in OPEN_PLANS

    def find(self, task_id: UUID) -> TaskNode:
        """Return one of the plan's tasks."""
        return next(node for node in self.nodes if node.id == task_id)


def hold_graph(session: Session, plan_id: UUID) -> Graph | None:
    """Hold a plan's turn, which is the lock of its plans; return None when it is gone.

    While holding it, do not lock any other existing conversation.
    """
    turn_id = session.scalar(select(PlanRow.turn_id).where(PlanRow.id == plan_id))
    query = select(TurnRow).where(TurnRow.id == turn_id).with_for_update(key_share=True)
    turn = session.scalar(query.execution_options(populate_existing=True))
    status = session.scalar(select(PlanRow.status).where(PlanRow.id == plan_id))
    if turn is None or status is None:
        return None
    parent = session.get_one(ConversationRow, turn.conversation_id)
    rows = session.execute(_NODES.where(TaskRow.plan_id == plan_id))
    return Graph(plan_id, status, turn, parent, [TaskNode(*row) for row in rows])


def change_task(session: Session, graph: Graph, node: TaskNode, **values: Any) -> None:
    """Write a task's new values, with the time if it ends."""
    if values.get("status") in _ENDS:
        values["finished_at"] = func.clock_timestamp()
    session.execute(
        update(TaskRow)
        .where(TaskRow.id == node.id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    for name in ("status", "tries", "session_id", "turn_id"):
        if name in values:
            setattr(node, name, values[name])
    graph.changed.add(node.id)


def fail_task(
    session: Session, graph: Graph, node: TaskNode, status: TaskStatus, error: ErrorSummary | None
) -> None:
    """Write that a task has no output, or none yet, and why."""
    reason = error.model_dump() if error else None
    change_task(session, graph, node, status=status, error=reason)


def settle_plan(session: Session, graph: Graph, status: PlanStatus | None = None) -> bool:
    """Write the plan's current status; return whether it has just ended."""
    was_open, status = graph.is_open, status or plan_status(graph.nodes)
    if not was_open or status == graph.status:
        return False
    graph.status = status
    finished_at = None if graph.is_open else func.clock_timestamp()
    session.execute(
        update(PlanRow)
        .where(PlanRow.id == graph.plan_id)
        .values(status=status, finished_at=finished_at)
        .execution_options(synchronize_session=False)
    )
    return not graph.is_open


_ENDS = (TaskStatus.SUCCEEDED, TaskStatus.FAILED, TaskStatus.SKIPPED, TaskStatus.STOPPED)
_NODES = select(
    TaskRow.id,
    TaskRow.temp_id,
    TaskRow.agent,
    TaskRow.depends_on,
    TaskRow.on_failure,
    TaskRow.status,
    TaskRow.tries,
    TaskRow.session_id,
    TaskRow.turn_id,
).order_by(TaskRow.place)
