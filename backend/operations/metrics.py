"""Figures about turns for operators: those unfinished now, and those of the last hour.

Both sets are small and found by an index, however many turns there are in all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Float, cast, func, select
from sqlalchemy.orm import Session

from backend.schemas.approvals import ApprovalStatus
from backend.schemas.conversations.turns import TurnStatus
from backend.turns.lifecycle import UNFINISHED
from backend.turns.process.fairness import WaitReason, select_waiting
from backend.turns.queries import seconds_between
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow

HOUR = 3_600
OVERDUE_SECONDS = 10
QUANTILES = (0.5, 0.99, 1.0)


@dataclass(frozen=True)
class Present:
    """The unfinished turns and pending approvals. Seconds are 0 if there are none.

    `oldest_seconds` leaves out turns that wait for people, because they may take days.
    `waiting`: how many turns do not run, by WaitReason; for how long the oldest of them has waited
    for a worker, and the oldest of those that are held back because of their owner's others.
    """

    by_status: Mapping[str, int]
    waiting: Mapping[str, int]
    oldest_seconds: float
    oldest_waiting_seconds: float
    oldest_held_back_seconds: float
    longest_silence_seconds: float
    overdue_leases: int
    stopping: int
    waiting_for_model: int
    pending_approvals: int
    oldest_approval_seconds: float


@dataclass(frozen=True)
class LastHour:
    """The turns accepted within the last hour. Durations are given by QUANTILES, in seconds."""

    by_status: Mapping[str, int]
    by_failure: Mapping[str, int]
    attempts: int
    lost_workers: int
    model_retries: int
    unknown_outcomes: int
    recovery_seconds: tuple[float, ...]
    stop_seconds: tuple[float, ...]


def read_present(session: Session, at_once: int) -> Present:
    """Return the figures of this moment; one person's turns run `at_once` concurrently."""
    clock, running = func.clock_timestamp(), TurnRow.status == TurnStatus.RUNNING
    row = session.execute(
        select(
            _seconds(
                clock,
                func.min(TurnRow.created_at).filter(TurnRow.status != TurnStatus.WAITING),
            ).label("oldest_seconds"),
            _seconds(clock, func.min(TurnRow.heartbeat_at).filter(running)).label(
                "longest_silence_seconds"
            ),
            func.count()
            .filter(running, seconds_between(clock, TurnRow.lease_until) > OVERDUE_SECONDS)
            .label("overdue_leases"),
            func.count().filter(running, TurnRow.stop_requested).label("stopping"),
            func.count().filter(running, TurnRow.model_retry_at > clock).label("waiting_for_model"),
        ).where(TurnRow.status.in_(UNFINISHED))
    ).one()
    counts = dict.fromkeys(sorted(UNFINISHED), 0) | _counts(session, TurnRow.status, _unfinished())
    return Present(
        by_status=counts,
        **_waiting(session, at_once),
        **_approvals(session),
        **row._mapping,
    )


def read_last_hour(session: Session) -> LastHour:
    """Return the figures of the last hour's turns."""
    recent = _recent()
    lost = TurnRow.losses > 0
    stopped = (TurnRow.status == TurnStatus.STOPPED) & TurnRow.stop_requested_at.is_not(None)
    stop_seconds = seconds_between(TurnRow.finished_at, TurnRow.stop_requested_at)
    row = session.execute(
        select(
            _sum(TurnRow.attempt).label("attempts"),
            _sum(TurnRow.losses).label("lost_workers"),
            _sum(TurnRow.model_retries).label("model_retries"),
            _sum(TurnRow.unknown_outcomes).label("unknown_outcomes"),
            *(
                _quantile(TurnRow.lost_seconds / func.nullif(TurnRow.losses, 0), q, lost)
                for q in QUANTILES
            ),
            *(_quantile(stop_seconds, q, stopped) for q in QUANTILES),
        ).where(recent)
    ).one()
    seconds = tuple(float(value or 0) for value in row[4:])
    statuses = dict.fromkeys(sorted(TurnStatus), 0)
    return LastHour(
        by_status=statuses | _counts(session, TurnRow.status, recent),
        by_failure=_counts(
            session,
            TurnRow.error["title"].as_string(),
            recent & (TurnRow.status == TurnStatus.FAILED),
        ),
        recovery_seconds=seconds[: len(QUANTILES)],
        stop_seconds=seconds[len(QUANTILES) :],
        **{name: getattr(row, name) for name in _SUMS},
    )


_SUMS = ("attempts", "lost_workers", "model_retries", "unknown_outcomes")


def _unfinished() -> Any:
    return TurnRow.status.in_(UNFINISHED)


def _recent() -> Any:
    return TurnRow.created_at > func.now() - func.make_interval(0, 0, 0, 0, 0, 0, HOUR)


def _waiting(session: Session, at_once: int) -> Mapping[str, Any]:
    """Return how many turns do not run, by reason, and how long the oldest have waited."""
    since = func.coalesce(TurnRow.decided_at, TurnRow.created_at)
    each = select_waiting(seconds_between(func.clock_timestamp(), since).label("age")).subquery()
    found = session.execute(
        select(each.c.reason, func.count(), func.max(each.c.age)).group_by(each.c.reason),
        {"at_once": at_once},
    )
    rows = {reason: (count, age) for reason, count, age in found}
    none = (0, 0.0)
    return {
        "waiting": {reason.value: rows.get(reason, none)[0] for reason in WaitReason},
        "oldest_waiting_seconds": rows.get(WaitReason.WORKER, none)[1],
        "oldest_held_back_seconds": rows.get(WaitReason.LIMIT, none)[1],
    }


def _approvals(session: Session) -> Mapping[str, Any]:
    """Return how many calls wait for people, and how long the oldest has waited."""
    age = _seconds(func.clock_timestamp(), func.min(ApprovalRow.created_at))
    row = session.execute(
        select(func.count().label("pending_approvals"), age.label("oldest_approval_seconds")).where(
            ApprovalRow.status == ApprovalStatus.PENDING
        )
    ).one()
    return dict(row._mapping)


def _counts(session: Session, by: Any, condition: Any) -> dict[str, int]:
    rows = session.execute(select(by, func.count()).where(condition).group_by(by))
    return {value: count for value, count in rows}


def _seconds(later: Any, earlier: Any) -> Any:
    return func.coalesce(seconds_between(later, earlier), 0.0)


def _sum(column: Any) -> Any:
    return func.coalesce(func.sum(column), 0)


def _quantile(value: Any, share: float, condition: Any) -> Any:
    return func.percentile_disc(share).within_group(cast(value, Float)).filter(condition)
