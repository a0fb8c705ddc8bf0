"""Choosing the next turn when more wait than can run, so that no user delays the others."""

from enum import StrEnum
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, ScalarSelect, Select, bindparam, case, func, select, text
from sqlalchemy.orm import Session, aliased

from backend.schemas.conversations.turns import TurnStatus, WaitsFor
from backend.turns.lifecycle import UNFINISHED
from db.models.turns.turn import TurnRow


class WaitReason(StrEnum):
    """Why an accepted turn does not run: each that does not has exactly one."""

    WORKER = "worker"  # for nothing else
    LIMIT = "limit"  # its owner has as many running as one person may
    SESSION = "session"  # another turn of its session comes first
    PEOPLE = "people"  # to decide on its calls
    TASKS = "tasks"  # of its plan


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('colloquy owner ' || :owner, 0))")


def choose_fairly(session: Session, turn_id: UUID, at_once: int) -> UUID:
    """Return the fairest waiting turn; `turn_id` when no other one comes before it."""
    return find_fairest(session, at_once) or turn_id


def is_ready() -> ColumnElement[bool]:
    """Return whether a turn lacks only a worker: it is queued, or people have decided its calls."""
    is_decided = (TurnRow.status == TurnStatus.WAITING) & TurnRow.decided_at.is_not(None)
    return (TurnRow.status == TurnStatus.QUEUED) | is_decided


def find_waiting(session: Session, at_once: int) -> UUID | None:
    """Return a turn that could be claimed now, for a worker that the queue gives none."""
    lost = select(TurnRow.id).where(
        TurnRow.status == TurnStatus.RUNNING, TurnRow.lease_until < func.clock_timestamp()
    )
    return find_fairest(session, at_once) or session.scalar(lost.limit(1))


def has_room(owner_id: Any, at_once: Any) -> ColumnElement[bool]:
    """Return whether an owner runs fewer turns than one person may run concurrently."""
    return cast(ColumnElement[bool], _running_of(owner_id) < at_once)


def may_run(session: Session, owner_id: str, at_once: int) -> bool:
    """Return whether one more turn of the owner may run, under a lock on the owner's claims."""
    session.execute(_LOCK, {"owner": owner_id})
    running = session.scalar(_RUNNING, {"owner": owner_id}) or 0
    return running < at_once


def find_held_back(session: Session, owner_id: str, at_once: int) -> UUID | None:
    """Return the owner's oldest turn that could not run until another of theirs ended."""
    return session.scalar(_HELD_BACK, {"owner": owner_id, "others": at_once - 1})


def find_fairest(session: Session, at_once: int) -> UUID | None:
    """Return the oldest ready turn among owners with room and the fewest running turns."""
    return session.scalar(_FAIREST, {"at_once": at_once})


def select_waiting(*columns: Any) -> Select[Any]:
    """Select from the turns that do not run; first of all `reason`, a WaitReason.

    `at_once`, a bound parameter, is how many turns of one person may run concurrently.
    """
    return (
        select(_REASON.label("reason"), *columns)
        .select_from(TurnRow)
        .outerjoin(_RUNNING_BY_OWNER, _RUNNING_BY_OWNER.c.owner_id == TurnRow.owner_id)
        .where(TurnRow.status.in_(UNFINISHED - {TurnStatus.RUNNING}))
    )


def select_claimable(*columns: Any) -> Select[Any]:
    """Select from the turns that lack only a worker: ready, first, and their owner has room.

    `at_once`, a bound parameter, is how many turns of one person may run concurrently.
    """
    return (
        select(*columns)
        .select_from(TurnRow)
        .outerjoin(_RUNNING_BY_OWNER, _RUNNING_BY_OWNER.c.owner_id == TurnRow.owner_id)
        .where(is_ready(), _is_first(), bindparam("at_once") > _OWNERS_TURNS)
    )


def _running_of(owner_id: Any) -> ScalarSelect[int]:
    running = aliased(TurnRow)
    return (
        select(func.count())
        .select_from(running)
        .where(running.owner_id == owner_id, running.status == TurnStatus.RUNNING)
        .scalar_subquery()
    )


def _is_first() -> ColumnElement[bool]:
    """Return whether no unfinished turn of the conversation comes before this one."""
    earlier = aliased(TurnRow)
    return ~(
        select(earlier.id)
        .where(earlier.conversation_id == TurnRow.conversation_id)
        .where(earlier.status.in_(UNFINISHED), earlier.number < TurnRow.number)
        .exists()
    )


# Built once: every claim runs these queries, and building them costs more than running them.
_RUNNING_BY_OWNER = (
    select(TurnRow.owner_id, func.count().label("turns"))
    .where(TurnRow.status == TurnStatus.RUNNING)
    .group_by(TurnRow.owner_id)
    .subquery()
)
_OWNERS_TURNS = func.coalesce(_RUNNING_BY_OWNER.c.turns, 0)
_REASON = case(
    (~is_ready(), func.coalesce(TurnRow.waits_for, WaitsFor.PEOPLE)),
    (~_is_first(), WaitReason.SESSION),
    (bindparam("at_once") > _OWNERS_TURNS, WaitReason.WORKER),
    else_=WaitReason.LIMIT,
)
_FAIREST: Select[UUID] = (
    select_claimable(TurnRow.id).order_by(_OWNERS_TURNS, TurnRow.number).limit(1)
)
_RUNNING = select(_running_of(bindparam("owner")))
_HELD_BACK = (
    select(TurnRow.id)
    .where(TurnRow.owner_id == bindparam("owner"), is_ready(), _is_first())
    .where(_running_of(bindparam("owner")) == bindparam("others"))
    .order_by(TurnRow.number)
    .limit(1)
)
