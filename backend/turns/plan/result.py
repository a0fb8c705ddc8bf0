"""The result of a plan as the call that started it returns it, also when its turn ends early."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.planning.results import write_result, write_single
from backend.schemas.tasks import TaskStatus
from backend.tools.plans import PlanRefused
from backend.turns.plan.graph_rows import OPEN_PLANS
from backend.types import JSON
from colloquy_kit.messages.repair import substitute_result
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.turn import TurnRow

TASKS_STOPPED = "The turn ended before the tasks of this call had, so those were stopped."


def plans_of_calls(session: Session, turn_id: UUID, message_id: str) -> dict[int, PlanRow]:
    """Return the plans of a message's calls, by the calls' numbers; if there are any, hold them."""
    query = select(PlanRow).where(PlanRow.turn_id == turn_id, PlanRow.message_id == message_id)
    if session.scalars(query).first() is None:
        return {}
    # The last of their tasks may be ending at this moment. The turn is the lock of its plans.
    turn = select(TurnRow.id).where(TurnRow.id == turn_id)
    session.execute(turn.with_for_update(key_share=True))
    plans = session.scalars(query.execution_options(populate_existing=True))
    return {plan.number: plan for plan in plans}


def result_at_end(session: Session, plan: PlanRow, call: JSON) -> JSON:
    """Return the result message of a plan's call whose turn ends before it was read."""
    if plan.status in OPEN_PLANS:
        return substitute_result(call, TASKS_STOPPED)
    try:
        return substitute_result(call, result_of(session, plan), is_error=False)
    except PlanRefused as error:
        return substitute_result(call, str(error))


def result_of(session: Session, plan: PlanRow) -> str:
    """Return an ended plan's result as its call returns it: JSON of bounded size.

    For a single agent, that is its output. Raise PlanRefused where there is none.
    """
    rows = session.scalars(
        select(TaskRow).where(TaskRow.plan_id == plan.id).order_by(TaskRow.place)
    )
    tasks = [_told(row) for row in rows]
    if plan.kind == "sub_agent":
        only = tasks[0]
        if "output" not in only:
            raise PlanRefused(f"{only['agent']} gave no answer ({only['status']}). {_why(only)}")
        return write_single(only["agent"], only["output"])
    return write_result({"plan": plan.name, "status": plan.status}, tasks)


def _told(row: TaskRow) -> JSON:
    """Return a task as its manager reads it: its output, or why it has none."""
    # A task still running after its plan has ended is being stopped.
    status = TaskStatus.STOPPED if row.status == TaskStatus.RUNNING else row.status
    result: JSON = {"tempId": row.temp_id, "name": row.name, "agent": row.agent, "status": status}
    if row.error:
        result["error"] = f"{row.error['title']}: {row.error['detail']}"
    elif row.status == TaskStatus.SKIPPED:
        result["error"] = "A task that it depends on has no output, so it was left out."
    elif status == TaskStatus.STOPPED:
        result["error"] = "A person stopped it."
    if row.output is not None:
        result["output"] = row.output
    return result


def _why(result: JSON) -> str:
    return str(result.get("error", ""))
