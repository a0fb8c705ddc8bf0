"""The sessions of a plan's tasks, whose rows an export has behind the plan's result."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.schemas.conversations.sessions import DisplayMessage
from backend.tools.planning import CALL_AGENT, RUN_PLAN
from colloquy_kit.messages.kinds import ContentType, MessageType
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import ToolResultRow
from db.models.planning.plan import PlanRow, TaskRow


class TaskSession(NamedTuple):
    """A task that has begun, and the session in which its agent worked."""

    name: str
    agent: str
    id: UUID


def is_result_of_plan(row: DisplayMessage) -> bool:
    """Return whether a row is the result of a call that may have let other agents work."""
    is_result = row.content_type is ContentType.TOOL_RESULT and row.turn_id is not None
    return is_result and row.content.get("name") in (RUN_PLAN, CALL_AGENT)


def tasks_behind(session: Session, result: DisplayMessage) -> list[TaskSession]:
    """Return the tasks of the plan whose result this row is, in their order."""
    found = session.execute(
        select(TaskRow.name, TaskRow.agent, TaskRow.session_id)
        .join(PlanRow, PlanRow.id == TaskRow.plan_id)
        .where(PlanRow.turn_id == result.turn_id)
        .where(PlanRow.call_id == str(result.content.get("tool_call_id")))
        .order_by(TaskRow.place)
    )
    return [TaskSession(name, agent, home) for name, agent, home in found if home]


def with_heading(task: TaskSession, rows: Iterable[DisplayMessage]) -> Iterator[DisplayMessage]:
    """Yield a task's rows, with its name in place of the message that its plan wrote."""
    for row in rows:
        if row.message_type is not MessageType.USER:
            yield row
            continue
        heading = {"content_type": ContentType.NOTICE, "content": {"text": f"Task: {task.name}"}}
        by = {"message_type": MessageType.SYSTEM, "agent": task.agent}
        yield row.model_copy(update={**heading, **by})


def find_home(session: Session, session_id: UUID, result_id: UUID) -> UUID:
    """Return which session stores a result: one of the tasks', or else the given one."""
    task = session.scalar(
        select(ToolResultRow.conversation_id)
        .join(ConversationRow, ConversationRow.id == ToolResultRow.conversation_id)
        .where(ToolResultRow.id == result_id, ConversationRow.parent_id == session_id)
    )
    return task or session_id
