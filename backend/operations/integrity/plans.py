"""Checks of plans: tasks agree with their turns, and nothing waits for what has ended."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import exists, func, or_, select, true
from sqlalchemy.orm import Session

from backend.approvals.store import requeue_if_decided
from backend.schemas.approvals import ApprovalStatus
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.tasks import TaskStatus
from backend.turns.lifecycle import UNFINISHED
from backend.turns.plan.graph_rows import OPEN_PLANS, hold_graph
from backend.turns.plan.moving import advance, stop_plan
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow
from db.session import Database

MOST_FINDINGS = 1_000  # of each kind; the next check finds the rest


class PlanRepair(StrEnum):
    """The repair proposed for a finding."""

    ADVANCE = "let the plan go on"
    STOP = "end the plan and its tasks"
    WAKE = "let the turn go on"
    SWEEP = "start a worker: its sweep lets the plan go on without it"
    NONE = "restore the session from a backup, or delete it"


@dataclass(frozen=True)
class PlanFinding:
    """An inconsistency, in words, and the repair proposed for it.

    `what` is a plan, task or turn, and `id` its id.
    """

    what: str
    id: UUID
    problem: str
    repair: PlanRepair


def check_plans(database: Database, sessions: Sequence[UUID] = ()) -> Iterator[PlanFinding]:
    """Yield what is wrong with plans, their tasks and waiting turns; of these sessions only.

    Each kind is checked at one moment, because turns and plans may advance between two queries.
    """
    for find in _CHECKS:
        with database.read() as session:
            found = list(find(session, sessions))
        yield from found


def repair_plan(database: Database, finding: PlanFinding) -> bool:
    """Repair what can be repaired; return whether it is settled. Workers notice at their sweep."""
    with database.transaction() as session:
        if finding.repair is PlanRepair.WAKE:
            _hold_turn(session, finding.id)
            return requeue_if_decided(session, finding.id)
        if finding.repair not in (PlanRepair.ADVANCE, PlanRepair.STOP):
            return False
        graph = hold_graph(session, finding.id)
        if graph is not None:
            move = advance if finding.repair is PlanRepair.ADVANCE else stop_plan
            move(session, graph)
        return True


def _hold_turn(session: Session, turn_id: UUID) -> None:
    held = select(TurnRow.id).where(TurnRow.id == turn_id).with_for_update(key_share=True)
    session.execute(held)


def _lost_turns(session: Session, sessions: Sequence[UUID]) -> Iterator[PlanFinding]:
    """Yield tasks without their turn; only a failed task may have lost it."""
    has_turn = exists().where(TurnRow.id == TaskRow.turn_id)
    begun = (TaskStatus.RUNNING, TaskStatus.ASKING, TaskStatus.SUCCEEDED)
    query = _of(sessions, TaskRow.conversation_id, select(TaskRow.id, TaskRow.status)).where(
        TaskRow.status.in_(begun), ~has_turn
    )
    for task_id, status in session.execute(query):
        repair = PlanRepair.SWEEP if status == TaskStatus.RUNNING else PlanRepair.NONE
        yield PlanFinding("task", task_id, f"it is {status}, and its turn is gone", repair)


def _other_statuses(session: Session, sessions: Sequence[UUID]) -> Iterator[PlanFinding]:
    """Yield tasks whose status disagrees with their turn's."""
    is_on = TurnRow.status.in_(UNFINISHED)
    runs = TaskRow.status == TaskStatus.RUNNING
    has_succeeded = TaskRow.status == TaskStatus.SUCCEEDED
    differs = or_(
        runs & ~is_on,
        ~runs & is_on,
        has_succeeded & (TurnRow.status != TurnStatus.SUCCEEDED),
    )
    columns = select(TaskRow.id, TaskRow.status, TurnRow.status).join(
        TurnRow, TurnRow.id == TaskRow.turn_id
    )
    query = _of(sessions, TaskRow.conversation_id, columns).where(differs)
    for task_id, status, of_turn in session.execute(query):
        repair = PlanRepair.SWEEP if status == TaskStatus.RUNNING else PlanRepair.NONE
        yield PlanFinding("task", task_id, f"it is {status}, and its turn is {of_turn}", repair)


def _over(session: Session, sessions: Sequence[UUID]) -> Iterator[PlanFinding]:
    """Yield unfinished plans whose tasks have all ended, or whose waiting turn has."""
    open_task = exists().where(
        TaskRow.plan_id == PlanRow.id,
        TaskRow.status.in_((TaskStatus.PENDING, TaskStatus.RUNNING, TaskStatus.ASKING)),
    )
    turn_is_on = TurnRow.status.in_(UNFINISHED)
    columns = select(PlanRow.id, PlanRow.status, turn_is_on).join(
        TurnRow, TurnRow.id == PlanRow.turn_id
    )
    query = _of(sessions, PlanRow.conversation_id, columns).where(
        PlanRow.status.in_(OPEN_PLANS), or_(~open_task, ~turn_is_on)
    )
    for plan_id, status, is_awaited in session.execute(query):
        if is_awaited:
            problem = f"it is {status}, and all of its tasks are over"
            yield PlanFinding("plan", plan_id, problem, PlanRepair.ADVANCE)
        else:
            problem = f"it is {status}, and the turn that waits for it has ended"
            yield PlanFinding("plan", plan_id, problem, PlanRepair.STOP)


def _left_behind(session: Session, sessions: Sequence[UUID]) -> Iterator[PlanFinding]:
    """Yield ended plans with a task that is pending or asks; one may still be stopping."""
    columns = (
        select(PlanRow.id, PlanRow.status, func.count())
        .join(TaskRow, TaskRow.plan_id == PlanRow.id)
        .group_by(PlanRow.id, PlanRow.status)
    )
    query = _of(sessions, PlanRow.conversation_id, columns).where(
        PlanRow.status.not_in(OPEN_PLANS),
        TaskRow.status.in_((TaskStatus.PENDING, TaskStatus.ASKING)),
    )
    for plan_id, status, count in session.execute(query):
        tasks = "a task of it has" if count == 1 else f"{count} tasks of it have"
        problem = f"it is {status}, and {tasks} not ended"
        yield PlanFinding("plan", plan_id, problem, PlanRepair.STOP)


def _wait_for_nothing(session: Session, sessions: Sequence[UUID]) -> Iterator[PlanFinding]:
    """Yield waiting turns that wait for neither a person nor a plan, and were not resumed."""
    asks = exists().where(
        ApprovalRow.turn_id == TurnRow.id, ApprovalRow.status == ApprovalStatus.PENDING
    )
    has_plan = exists().where(PlanRow.turn_id == TurnRow.id, PlanRow.status.in_(OPEN_PLANS))
    query = _of(sessions, TurnRow.conversation_id, select(TurnRow.id)).where(
        TurnRow.status == TurnStatus.WAITING, TurnRow.decided_at.is_(None), ~asks, ~has_plan
    )
    for turn_id in session.scalars(query):
        problem = "it waits, and there is nothing that it waits for"
        yield PlanFinding("turn", turn_id, problem, PlanRepair.WAKE)


def _of(sessions: Sequence[UUID], column: Any, query: Any) -> Any:
    """Return the query, narrowed to these sessions if there are any, and bounded."""
    return query.where(column.in_(sessions) if sessions else true()).limit(MOST_FINDINGS)


_CHECKS: Sequence[Callable[[Session, Sequence[UUID]], Iterator[PlanFinding]]] = (
    _lost_turns,
    _other_statuses,
    _over,
    _left_behind,
    _wait_for_nothing,
)
