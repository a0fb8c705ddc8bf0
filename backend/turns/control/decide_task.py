"""Deciding what follows a failed task that asks: retry it, skip it, or end the plan."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.errors.plans import TaskNotAsking
from backend.schemas.people.rights import Right
from backend.schemas.tasks import Task, TaskDecision, TaskStatus
from backend.turns.plan.graph_rows import PlanChanges, change_task, hold_graph
from backend.turns.plan.moving import advance, stop_plan
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.plan.reading import find_task
from backend.turns.process.services import Services
from backend.turns.run.publish import stop_tasks
from db.models.conversations.conversation import ConversationRow


def decide_task(services: Services, scope: Scope, task_id: UUID, wanted: TaskDecision) -> Task:
    """Decide what follows a task that asks; return the task as it is afterwards.

    Raise TaskNotFound, TaskNotAsking, SessionNotFound where the caller may only read its session.
    """
    with services.database.transaction() as session:
        task = find_task(session, scope, task_id)
        conversations.check_visible(session, scope, task.parent_id, Right.CONTINUE)
        changes = _decide(session, scope, task, wanted)
        task = find_task(session, scope, task_id)
    publish_plan_changes(services, changes)
    stop_tasks(services, changes.to_stop)
    return task


def _decide(session: Session, scope: Scope, task: Task, wanted: TaskDecision) -> PlanChanges:
    # The task's own session first: ending a turn in it takes locks in the same order.
    own = select(ConversationRow.id).where(ConversationRow.id == task.session_id)
    session.execute(own.with_for_update(key_share=True))
    graph = hold_graph(session, task.plan_id)
    if graph is None or (node := graph.find(task.id)).status != TaskStatus.ASKING:
        raise TaskNotAsking
    details = {"decision": wanted.decision, "turn_id": str(graph.turn.id)}
    audit.record(session, scope.user_id, "decided", "task", task.id, details)
    again = wanted.decision == "retry"
    change_task(session, graph, node, status=TaskStatus.PENDING if again else TaskStatus.FAILED)
    return stop_plan(session, graph) if wanted.decision == "stop" else advance(session, graph)
