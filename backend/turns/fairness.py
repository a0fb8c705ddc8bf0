"""Which waiting turn is next when more wait than can run: one person delays nobody else."""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from backend.schemas import TurnStatus
from backend.turns.lifecycle import UNFINISHED
from db.models.turn import TurnRow


def choose_fairly(session: Session, turn_id: UUID) -> UUID:
    """The fairest turn of those that wait; `turn_id` when no other one comes before it."""
    return find_fairest(session) or turn_id


def find_waiting(session: Session) -> UUID | None:
    """A turn that could be claimed now, for a worker that no queue tells of one."""
    lost = select(TurnRow.id).where(
        TurnRow.status == TurnStatus.RUNNING, TurnRow.lease_until < func.clock_timestamp()
    )
    return find_fairest(session) or session.scalar(lost.limit(1))


def find_fairest(session: Session) -> UUID | None:
    """The queued turn whose owner has the fewest running, the oldest of those."""
    running = (
        select(TurnRow.owner_id, func.count().label("turns"))
        .where(TurnRow.status == TurnStatus.RUNNING)
        .group_by(TurnRow.owner_id)
        .subquery()
    )
    earlier = aliased(TurnRow)
    is_first = ~(
        select(earlier.id)
        .where(earlier.conversation_id == TurnRow.conversation_id)
        .where(earlier.status.in_(UNFINISHED), earlier.number < TurnRow.number)
        .exists()
    )
    return session.scalar(
        select(TurnRow.id)
        .outerjoin(running, running.c.owner_id == TurnRow.owner_id)
        .where(TurnRow.status == TurnStatus.QUEUED, is_first)
        .order_by(func.coalesce(running.c.turns, 0), TurnRow.number)
        .limit(1)
    )
