"""Current work: unfinished turns, recent failures, and the workers."""

from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.auth.naming import names_of
from backend.auth.scope import Scope
from backend.conversations.session_turns import of_latest_turn
from backend.operations.workers import list_workers
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.operations.work import FAILURE_HOURS, Work, WorkTurn
from backend.schemas.people.rights import Permission
from backend.turns.lifecycle import RETRYABLE, UNFINISHED
from backend.turns.queries import HEARTBEAT_COLUMNS, seconds_between, state_of
from db.models.conversations.conversation import ConversationRow
from db.models.turns.turn import TurnRow
from db.session import Database

LISTED = 100


def get_work(database: Database, redis: Redis, scope: Scope) -> Work:
    """Return the current work of all owners. Raise NotAllowed unless the caller is an admin."""
    scope.require(Permission.SEE_WORK)
    with database.read() as session:
        counts = dict(
            session.execute(
                select(TurnRow.status, func.count())
                .where(TurnRow.status.in_(UNFINISHED))
                .group_by(TurnRow.status)
            )
            .tuples()
            .all()
        )
        turns = _turns(session, TurnRow.status.in_(UNFINISHED), TurnRow.number)
        hours = func.make_interval(0, 0, 0, 0, FAILURE_HOURS)
        failed_lately = (TurnRow.status == TurnStatus.FAILED) & (
            TurnRow.finished_at > func.now() - hours
        )
        failures = _turns(session, failed_lately, TurnRow.finished_at.desc())
    try:
        workers, answers = list_workers(redis), True
    except RedisError:
        workers, answers = [], False
    return Work(
        queued=counts.get(TurnStatus.QUEUED, 0),
        running=counts.get(TurnStatus.RUNNING, 0),
        waiting=counts.get(TurnStatus.WAITING, 0),
        redis_answers=answers,
        turns=turns,
        failures=failures,
        workers=workers,
    )


def _turns(session: Session, condition: Any, order: Any) -> list[WorkTurn]:
    age = seconds_between(func.clock_timestamp(), TurnRow.created_at)
    rows: Sequence[Any] = session.execute(
        select(
            TurnRow,
            ConversationRow.title,
            age.label("age"),
            (TurnRow.id == of_latest_turn(TurnRow.id)).label("is_latest"),
            ConversationRow.parent_id,
            *HEARTBEAT_COLUMNS,
        )
        .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
        .where(condition)
        .order_by(order)
        .limit(LISTED)
    ).all()
    names = names_of(session, (row.TurnRow.owner_id for row in rows))
    return [_work_turn(row, names[row.TurnRow.owner_id]) for row in rows]


def _work_turn(row: Any, owner_name: str) -> WorkTurn:
    turn = row.TurnRow
    return WorkTurn(
        **state_of(turn, row).model_dump(),
        id=turn.id,
        session_id=turn.conversation_id,
        title=row.title,
        owner=turn.owner_id,
        owner_name=owner_name,
        status=TurnStatus(turn.status),
        agent=turn.agent,
        worker=turn.worker,
        age_seconds=row.age,
        error=turn.error,
        is_retryable=turn.status in RETRYABLE and row.is_latest and row.parent_id is None,
    )
