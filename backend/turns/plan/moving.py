"""Moving plans when a task's turn ends, or when the turn that waits for the plan does.

Everything happens in the transaction that ends the turn; changes are published afterwards.
"""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.approvals.store import requeue_if_decided
from backend.errors.budgets import (
    BudgetUsedUp,
    CostLimitReached,
    DomainBudgetUsedUp,
    SessionBudgetUsedUp,
    TokenLimitReached,
    TokensUsedUp,
)
from backend.errors.turns import CallLimitReached, StepLimitReached, TimeLimitReached
from backend.planning.graph import after_turn, find_lost, find_ready
from backend.planning.results import why_not_done
from backend.schemas.conversations.turns import ErrorSummary, TurnStatus
from backend.schemas.tasks import OnFailure, PlanStatus, TaskStatus
from backend.turns.plan.children import start_task
from backend.turns.plan.graph_rows import (
    OPEN_PLANS,
    Graph,
    PlanChanges,
    TaskNode,
    change_task,
    fail_task,
    hold_graph,
    settle_plan,
)
from backend.turns.plan.outputs import output_of
from backend.turns.plan.reading import tasks_by_id
from backend.turns.queries import context_in, context_of
from backend.types import JSON
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow


def end_task(session: Session, turn: TurnRow) -> PlanChanges | None:
    """Store the output of a task's turn that has just ended, and advance the plan.

    Return None if the turn is not a task's, or its end is already recorded. The caller holds the
    turn and its conversation.
    """
    found = session.execute(
        select(TaskRow.id, TaskRow.plan_id)
        .where(TaskRow.session_id == turn.conversation_id, TaskRow.turn_id == turn.id)
        .where(TaskRow.status == TaskStatus.RUNNING)
    ).one_or_none()
    if found is None:
        return None
    # Read before holding the plan: all of its other tasks may be ending at this moment.
    output = output_of(session, turn) if turn.status == TurnStatus.SUCCEEDED else None
    graph = hold_graph(session, found.plan_id)
    if graph is None:
        return None
    _take_end(session, graph, graph.find(found.id), turn, output)
    return advance(session, graph)


def stop_plans(session: Session, turn: TurnRow) -> list[PlanChanges]:
    """End the plans of a turn that has just ended, so that none of their tasks begin.

    Return what has changed in each. Running task turns have yet to be stopped after the commit.
    The caller holds the turn.
    """
    plans = session.scalars(
        select(PlanRow.id).where(PlanRow.turn_id == turn.id, PlanRow.status.in_(OPEN_PLANS))
    ).all()
    held = [graph for plan_id in plans if (graph := hold_graph(session, plan_id))]
    return [stop_plan(session, graph) for graph in held]


def stop_plan(session: Session, graph: Graph) -> PlanChanges:
    """End a plan early and return what has changed; the turn that waits for it continues."""
    for node in graph.nodes:
        if node.status in (TaskStatus.PENDING, TaskStatus.ASKING):
            change_task(session, graph, node, status=TaskStatus.STOPPED)
    changes = _settle(session, graph, PlanStatus.STOPPED)
    changes.to_stop = [
        node.turn_id for node in graph.nodes if node.status == TaskStatus.RUNNING and node.turn_id
    ]
    return changes


def advance(session: Session, graph: Graph) -> PlanChanges:
    """Begin ready tasks, skip those that can never begin, and end the plan if none remain.

    Return what has changed.
    """
    accepted = []
    while graph.is_open:
        for node in find_lost(graph.nodes):
            change_task(session, graph, node, status=TaskStatus.SKIPPED)
        ready = find_ready(graph.nodes)
        if not ready:
            break
        accepted += [one for node in ready if (one := start_task(session, graph, node))]
    changes = _settle(session, graph)
    changes.accepted = accepted
    return changes


def find_running_task(session: Session, conversation_id: UUID) -> PlanChanges | None:
    """Return the task that this conversation runs, to be published as it is now.

    Its turn has begun or ceased to wait for people. Return None if this is no task's session.
    """
    found = session.execute(
        select(TaskRow.id, PlanRow.turn_id)
        .join(PlanRow, PlanRow.id == TaskRow.plan_id)
        .where(TaskRow.session_id == conversation_id, TaskRow.status == TaskStatus.RUNNING)
    ).one_or_none()
    if found is None:
        return None
    context = context_of(session, session.get_one(TurnRow, found.turn_id))
    return PlanChanges(context, tasks_by_id(session, [found.id]))


def lose_task(
    session: Session, task_id: UUID, plan_id: UUID, reason: ErrorSummary
) -> PlanChanges | None:
    """Fail a task whose turn is gone or ended unrecorded; return None if that has changed."""
    graph = hold_graph(session, plan_id)
    if graph is None or (node := graph.find(task_id)).status != TaskStatus.RUNNING:
        return None
    fail_task(session, graph, node, TaskStatus.FAILED, reason)
    return advance(session, graph)


def _take_end(
    session: Session, graph: Graph, node: TaskNode, turn: TurnRow, output: JSON | None
) -> None:
    ended, error = TurnStatus(turn.status), ErrorSummary.read(turn.error) if turn.error else None
    if output and (reason := why_not_done(output)):
        ended, error = TurnStatus.FAILED, ErrorSummary(title="Task not done", detail=reason)
    is_hopeless = error is not None and error.title in _LIMITS
    then = after_turn(ended, OnFailure(node.on_failure), node.tries, is_hopeless=is_hopeless)
    if then is TaskStatus.SUCCEEDED:
        change_task(session, graph, node, status=then, output=output, error=None)
        return
    if not graph.is_open and then is not TaskStatus.STOPPED:
        then = TaskStatus.FAILED
    fail_task(session, graph, node, then, error)


def _settle(session: Session, graph: Graph, status: PlanStatus | None = None) -> PlanChanges:
    """Write the plan's status and return what has changed; a plan that ends lets its turn go on."""
    has_ended = settle_plan(session, graph, status)
    context = context_in(graph.parent, graph.turn)
    changes = PlanChanges(context, tasks_by_id(session, list(graph.changed)))
    if has_ended and requeue_if_decided(session, graph.turn.id):
        changes.goes_on = graph.turn.id
    return changes


# The errors of a turn that another try would reach again, at the same cost.
_LIMITS = frozenset(
    limit().title
    for limit in (
        BudgetUsedUp,
        CallLimitReached,
        CostLimitReached,
        DomainBudgetUsedUp,
        SessionBudgetUsedUp,
        StepLimitReached,
        TimeLimitReached,
        TokenLimitReached,
        TokensUsedUp,
    )
)
