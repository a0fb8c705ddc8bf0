"""Reading plans and tasks: of one session, across sessions, and after a change."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, select, tuple_
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.lists import listed_ids
from backend.conversations.service import listed_to, visible_to
from backend.cursor import decode_cursor, encode_cursor
from backend.errors.plans import TaskNotFound
from backend.planning.results import MOST_SHOWN, fit_output
from backend.schemas.conversations.turns import ErrorSummary, TurnStatus, Usage, WaitsFor
from backend.schemas.people.rights import Permission
from backend.schemas.tasks import OnFailure, Plan, PlanList, PlanStatus, Task, TaskPage, TaskStatus
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow


def list_plans(session: Session, scope: Scope, session_id: UUID) -> PlanList:
    """Return a session's plans in order, with all their tasks. Raise SessionNotFound."""
    conversations.check_visible(session, scope, session_id)
    tasks: defaultdict[UUID, list[Task]] = defaultdict(list)
    of_session = _tasks().where(TaskRow.conversation_id == session_id).order_by(TaskRow.place)
    for row in session.execute(of_session):
        tasks[row.TaskRow.plan_id].append(_wire(row))
    # Calls of one message start their plans at the same time, in any order.
    of_message = func.min(PlanRow.created_at).over(
        partition_by=(PlanRow.turn_id, PlanRow.message_id)
    )
    plans = session.scalars(
        select(PlanRow)
        .where(PlanRow.conversation_id == session_id)
        .order_by(of_message, PlanRow.message_id, PlanRow.number)
        .execution_options(populate_existing=True)
    )
    return PlanList(items=[_plan(row, tasks[row.id]) for row in plans])


def list_tasks(
    session: Session,
    scope: Scope,
    status: TaskStatus | None,
    *,
    everyone: bool,
    cursor: str | None,
    limit: int,
) -> TaskPage:
    """Return one keyset page of tasks across all sessions, newest plan first.

    Raise NotAllowed if a member asks for everyone's tasks, InvalidInput for a bad cursor.
    """
    if everyone:
        scope.require(Permission.REVIEW_SESSIONS)
    is_listed = (
        listed_to(scope, everyone=True)
        if everyone
        else TaskRow.conversation_id.in_(listed_ids(scope))
    )
    query = (
        _tasks()
        .add_columns(PlanRow.created_at)
        .join(PlanRow, PlanRow.id == TaskRow.plan_id)
        .join(ConversationRow, ConversationRow.id == TaskRow.conversation_id)
        .where(is_listed)
    )
    if status is not None:
        query = query.where(TaskRow.status == status)
    columns = (PlanRow.created_at, TaskRow.plan_id, TaskRow.place)
    if cursor:
        query = query.where(tuple_(*columns) < decode_cursor(cursor, "tasks", *_PLACE))
    order = [column.desc() for column in columns]
    rows = session.execute(query.order_by(*order).limit(limit + 1)).all()
    last = rows[limit - 1] if len(rows) > limit else None
    place = last and (last.created_at, last.TaskRow.plan_id, str(last.TaskRow.place))
    return TaskPage(
        items=[_wire(row) for row in rows[:limit]],
        next_cursor=encode_cursor("tasks", *place) if place else None,
    )


def find_task(session: Session, scope: Scope, task_id: UUID) -> Task:
    """Return one task. Raise TaskNotFound, also for tasks of another owner's session."""
    row = session.execute(
        _tasks()
        .join(ConversationRow, ConversationRow.id == TaskRow.conversation_id)
        .where(TaskRow.id == task_id, visible_to(scope))
    ).one_or_none()
    if row is None:
        raise TaskNotFound
    return _wire(row)


def tasks_by_id(session: Session, task_ids: Sequence[UUID]) -> list[Task]:
    """Return these tasks as they are now, in the order of their plan."""
    if not task_ids:
        return []
    rows = session.execute(_tasks().where(TaskRow.id.in_(task_ids)).order_by(TaskRow.place))
    return [_wire(row) for row in rows]


def _tasks() -> Any:
    return (
        select(TaskRow, TurnRow.steps, TurnRow.usage, _ASKS_PEOPLE.label("asks_people"))
        .outerjoin(TurnRow, TurnRow.id == TaskRow.turn_id)
        .execution_options(populate_existing=True)
    )


def _wire(found: Row[Any]) -> Task:
    row: TaskRow = found.TaskRow
    return Task(
        id=row.id,
        plan_id=row.plan_id,
        parent_id=row.conversation_id,
        temp_id=row.temp_id,
        name=row.name,
        description=row.description,
        agent=row.agent,
        depends_on=row.depends_on,
        input=row.input,
        on_failure=OnFailure(row.on_failure),
        status=TaskStatus(row.status),
        waiting_for_approval=row.status == TaskStatus.RUNNING and bool(found.asks_people),
        tries=row.tries,
        steps=found.steps or 0,
        usage=Usage.read(found.usage) if found.usage else None,
        session_id=row.session_id,
        turn_id=row.turn_id,
        output=fit_output(row.output, MOST_SHOWN) if row.output else None,
        error=ErrorSummary.read(row.error) if row.error else None,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _plan(row: PlanRow, tasks: list[Task]) -> Plan:
    return Plan(
        id=row.id,
        session_id=row.conversation_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        kind="sub_agent" if row.kind == "sub_agent" else "plan",
        name=row.name,
        reasoning=row.reasoning,
        status=PlanStatus(row.status),
        tasks=tasks,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


_ASKS_PEOPLE = (TurnRow.status == TurnStatus.WAITING) & (TurnRow.waits_for == WaitsFor.PEOPLE)
_PLACE = (datetime.fromisoformat, UUID, int)
