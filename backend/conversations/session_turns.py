"""What a session shows of its turns, as SQL.

The first unfinished turn decides what it is doing; of those that have ended, only the turns of its
active branch count.
"""

from typing import Any

from sqlalchemy import (
    ScalarSelect,
    SQLColumnExpression,
    and_,
    case,
    cast,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import InstrumentedAttribute, aliased

from backend.schemas.conversations.turns import TurnStatus, WaitsFor
from backend.schemas.tasks import TaskStatus
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import TaskRow
from db.models.turns.turn import TurnRow

IDLE = "idle"
UNFINISHED = ("queued", "running", "waiting")
_IN_A_RANGE = "strict $[*] ? (@[0] <= $position && (@[1] == null || @[1] >= $position))"


def session_status() -> Any:
    """Return the status of each conversation's first unfinished turn; idle without one."""
    return func.coalesce(_of_first_turn(TurnRow.status), IDLE)


def waits_for() -> Any:
    """Return what that turn waits for: people also where one of its tasks waits for them."""
    own = _of_first_turn(case((TurnRow.status == TurnStatus.WAITING, TurnRow.waits_for)))
    return case(
        (and_(own == WaitsFor.TASKS, _a_task_waits_for_people()), WaitsFor.PEOPLE), else_=own
    )


def of_latest_turn(column: InstrumentedAttribute[Any]) -> ScalarSelect[Any]:
    """Return a column of each conversation's latest turn on its active branch.

    A turn whose message waits behind another, or was withdrawn, counts on every branch.
    """
    turn = aliased(TurnRow)
    position = func.jsonb_build_object("position", turn.message_position)
    is_shown = or_(
        ConversationRow.path.is_(None),
        turn.message_position.is_(None),
        func.jsonb_path_exists(ConversationRow.path, cast(_IN_A_RANGE, JSONPATH), position),
    )
    return (
        select(getattr(turn, column.key))
        .where(turn.conversation_id == ConversationRow.id, is_shown)
        .order_by(turn.number.desc())
        .limit(1)
        .correlate(ConversationRow)
        .scalar_subquery()
    )


def _of_first_turn(column: SQLColumnExpression[Any]) -> Any:
    return (
        select(column)
        .where(TurnRow.conversation_id == ConversationRow.id, TurnRow.status.in_(UNFINISHED))
        .order_by(TurnRow.number)
        .limit(1)
        .correlate(ConversationRow)
        .scalar_subquery()
    )


def _a_task_waits_for_people() -> Any:
    turn = aliased(TurnRow)
    asks = and_(turn.status == TurnStatus.WAITING, turn.waits_for == WaitsFor.PEOPLE)
    return (
        exists()
        .where(
            TaskRow.conversation_id == ConversationRow.id,
            (TaskRow.status == TaskStatus.ASKING)
            | and_(
                TaskRow.status == TaskStatus.RUNNING,
                exists().where(turn.id == TaskRow.turn_id, asks).correlate(TaskRow),
            ),
        )
        .correlate(ConversationRow)
    )
