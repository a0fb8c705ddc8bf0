"""Leases: background threads of a worker process renew those of its turns and watch for stops."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import bindparam, func, select, text, tuple_, update
from sqlalchemy.exc import SQLAlchemyError

from backend.errors.base import AppError
from backend.errors.turns import LeaseLost
from backend.logs.outages import DATABASE, while_away
from backend.schemas.conversations.turns import TurnStatus
from backend.turns.process.liveness import LivenessLock
from db.models.turns.turn import TurnRow
from db.session import Database

CONNECTIONS = 2  # one more than the liveness lock's own
LOOK_SECONDS = 0.2  # how soon a stop is noticed
log = logging.getLogger(__name__)


class TurnStopped(AppError):
    """A person has stopped this turn."""

    status = 409


@dataclass
class Lease:
    """One running turn of this process; `cancel` ends its agent with the given reason."""

    turn_id: UUID
    attempt: int
    cancel: Callable[[AppError], None]
    kept_at: float


class LeaseKeeper:
    """Renews the leases of all turns of this process together, by the database's clock."""

    def __init__(self, database: Database, worker: str, lease_seconds: float) -> None:
        # Own connections: leases must be renewed even while hundreds of turns are being saved.
        self._database = database.aside(CONNECTIONS)
        self._life = LivenessLock(self._database, worker)
        self._seconds = lease_seconds
        self._leases: dict[tuple[UUID, int], Lease] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        # A hung database blocks the first thread; the second one needs no database.
        self._threads = [
            threading.Thread(target=self._keep, name="leases", daemon=True),
            threading.Thread(target=self._watch, name="old leases", daemon=True),
        ]

    def start(self) -> None:
        """Start renewing leases."""
        self._life.hold()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop renewing leases; turns that still run are cancelled and will be taken over."""
        self._closing.set()
        for thread in self._threads:
            thread.join(timeout=5)
        for lease in self._snapshot():
            self._cancel(lease, LeaseLost())
        self._life.free()

    @property
    def count(self) -> int:
        """Return how many turns run in this process."""
        return len(self._leases)

    @contextmanager
    def hold(
        self, turn_id: UUID, attempt: int, cancel: Callable[[AppError], None]
    ) -> Iterator[None]:
        """Keep the lease of a claimed turn while the block runs."""
        key = (turn_id, attempt)
        with self._lock:
            self._leases[key] = Lease(turn_id, attempt, cancel, time.monotonic())
        try:
            yield
        finally:
            with self._lock:
                self._leases.pop(key, None)

    def _keep(self) -> None:
        while not self._closing.wait(LOOK_SECONDS):
            self._life.hold()
            leases = self._snapshot()
            if not leases:
                continue
            try:
                self._look(leases)
                if any(time.monotonic() - lease.kept_at > self._seconds / 4 for lease in leases):
                    self._renew(leases)
            except SQLAlchemyError as error:
                reason = str(error).splitlines()[0]
                log.warning("Leases are not renewed: %s", reason, extra=while_away(DATABASE))

    def _watch(self) -> None:
        while not self._closing.wait(LOOK_SECONDS):
            self._give_up_old(self._snapshot())

    def _look(self, leases: list[Lease]) -> None:
        """Cancel turns that are to stop, and those that this process no longer owns."""
        ids = {lease.turn_id for lease in leases}
        with self._database.read() as session:
            rows = session.execute(_LOOK, {"ids": list(ids)}).all()
        found = {row.id: row for row in rows}
        for lease in leases:
            row = found.get(lease.turn_id)
            if row is None or (row.attempt, row.status) != (lease.attempt, TurnStatus.RUNNING):
                self._cancel(lease, LeaseLost())
            elif row.stop_requested:
                self._cancel(lease, TurnStopped())

    def _renew(self, leases: list[Lease]) -> None:
        """Renew all leases except those of locked rows, which are tried again soon.

        A process that froze while it locked one turn must not cost the others their leases.
        """
        now = time.monotonic()
        until = func.clock_timestamp() + text(":seconds * interval '1 second'").bindparams(
            bindparam("seconds", self._seconds)
        )
        free = (
            select(TurnRow.id)
            .where(tuple_(TurnRow.id, TurnRow.attempt).in_([_key(lease) for lease in leases]))
            .where(TurnRow.status == TurnStatus.RUNNING)
            .with_for_update(key_share=True, skip_locked=True)
        )
        with self._database.transaction() as session:
            kept = session.execute(
                update(TurnRow)
                .where(TurnRow.id.in_(free))
                .values(lease_until=until, heartbeat_at=func.clock_timestamp())
                .returning(TurnRow.id, TurnRow.attempt)
                .execution_options(synchronize_session=False)
            )
            keys = set(kept.tuples())
        for lease in leases:
            if _key(lease) in keys:
                lease.kept_at = now

    def _give_up_old(self, leases: list[Lease]) -> None:
        """Cancel turns whose lease could not be renewed in time: another worker may own them."""
        for lease in leases:
            if time.monotonic() - lease.kept_at > self._seconds:
                self._cancel(lease, LeaseLost())

    def _cancel(self, lease: Lease, reason: AppError) -> None:
        """Cancel a lease's turn once, unless it has already ended by itself."""
        with self._lock:
            is_held = self._leases.pop(_key(lease), None) is not None
        if is_held:
            lease.cancel(reason)

    def _snapshot(self) -> list[Lease]:
        with self._lock:
            return list(self._leases.values())


# Built once: it runs several times a second.
_LOOK = select(TurnRow.id, TurnRow.attempt, TurnRow.status, TurnRow.stop_requested).where(
    TurnRow.id.in_(bindparam("ids", expanding=True))
)


def _key(lease: Lease) -> tuple[UUID, int]:
    return lease.turn_id, lease.attempt
