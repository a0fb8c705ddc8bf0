"""The sweeper: finds turns that were accepted but never reached a worker, or lost theirs."""

from collections import Counter
from uuid import UUID

from sqlalchemy import bindparam, func, or_, select, text, update
from sqlalchemy.orm import Session

from backend.schemas.conversations.turns import TurnStatus
from backend.turns.control.decide import expire_due
from backend.turns.control.repair_plans import repair_plans
from backend.turns.lifecycle import UNFINISHED
from backend.turns.process.fairness import has_room, is_ready
from backend.turns.process.liveness import end_leases, find_dead_workers
from backend.turns.process.services import Services
from db.failpoints import failpoint
from db.models.turns.turn import TurnRow
from worker.background import Background

BATCH = 500
LOOKS = 2  # how often dead workers are looked for between two sweeps
STRANDED_SECONDS = 3  # after this long without a claim, a turn is announced again


class Sweeper(Background):
    """Several may run, because only one claim succeeds."""

    name = "sweeper"

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self._suspects: Counter[str] = Counter()
        self._looks = 0

    def _run(self) -> None:
        while not self._closing.wait(self._services.settings.sweep_seconds / LOOKS):
            self._try(self._look)

    def _look(self) -> None:
        self._looks += 1
        if self._free_leases() or self._looks % LOOKS == 0:
            sweep(self._services)

    def _free_leases(self) -> bool:
        """End the leases of dead workers; return whether any had one.

        A worker seen dead for less than the time between two sweeps may just be reconnecting.
        """
        with self._services.database.transaction() as session:
            seen = {name: self._suspects[name] + 1 for name in find_dead_workers(session)}
            dead = {name for name, times in seen.items() if times > LOOKS}
            ended = end_leases(session, dead)
        self._suspects = Counter(seen)
        return ended > 0


def sweep(services: Services) -> list[UUID]:
    """Wake a worker for each stranded turn; return their ids.

    Turns that have waited for people for too long continue without them, and plans continue
    without tasks that are lost.
    """
    expire_due(services)
    repair_plans(services)
    with services.database.transaction() as session:
        found = _stranded(session, services.settings.user_turns_at_once)
    if found:
        failpoint("sweep.found")
    services.queue.wake_again(found)
    return found


def _stranded(session: Session, at_once: int) -> list[UUID]:
    """Return turns whose lease has expired, and those that are ready and first but not taken.

    Mark them, so that sweeps do not add to a full queue repeatedly.
    """
    ids = list(session.scalars(_STRANDED, {"at_once": at_once}))
    if ids:
        session.execute(
            update(TurnRow)
            .where(TurnRow.id.in_(ids))
            .values(enqueued_at=_NOW)
            .execution_options(synchronize_session=False)
        )
    return ids


_NOW = func.clock_timestamp()
_SINCE = func.coalesce(TurnRow.decided_at, TurnRow.created_at)
_PATIENCE = _NOW - text(f"interval '{STRANDED_SECONDS} seconds'")
_FIRST = (
    select(TurnRow.id)
    .distinct(TurnRow.conversation_id)
    .where(TurnRow.status.in_(UNFINISHED))
    .order_by(TurnRow.conversation_id, TurnRow.number)
    .subquery()
)
_LOST = (TurnRow.status == TurnStatus.RUNNING) & (TurnRow.lease_until < _NOW)
_WAITS = is_ready() & (_SINCE < _PATIENCE) & has_room(TurnRow.owner_id, bindparam("at_once"))
_STRANDED = (
    select(TurnRow.id)
    .join(_FIRST, _FIRST.c.id == TurnRow.id)
    .where(or_(_LOST, _WAITS))
    .where(or_(TurnRow.enqueued_at.is_(None), TurnRow.enqueued_at < _PATIENCE))
    .order_by(TurnRow.number)
    .limit(BATCH)
    .with_for_update(skip_locked=True, of=TurnRow)
)
