"""Liveness: a lock that PostgreSQL releases the moment a worker process dies.

It is only a hint, so that a killed worker's turns need not wait until their leases expire. The
attempt number is what keeps a worker that is alive after all from writing.
"""

import logging

from sqlalchemy import Connection, func, select, text, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.logs.outages import DATABASE, while_away
from backend.schemas.conversations.turns import TurnStatus
from db.models.turns.turn import TurnRow
from db.session import Database

_KEY = "hashtextextended('colloquy worker ' || :worker, 0)"
_HOLD = text(f"SELECT pg_try_advisory_lock({_KEY})")
_IS_FREE = text(f"SELECT pg_try_advisory_xact_lock({_KEY})")
_PING = text("SELECT 1")
_OWNERS = select(TurnRow.worker).where(TurnRow.status == TurnStatus.RUNNING).distinct()
log = logging.getLogger(__name__)


class LivenessLock:
    """The lock of one live worker process, held on its own connection."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = database
        self._worker = worker
        self._connection: Connection | None = None
        self._is_held = False

    def hold(self) -> None:
        """Take the lock, again if the connection was lost; call it from one thread only."""
        try:
            if self._connection is None:
                engine = self._database.engine.execution_options(isolation_level="AUTOCOMMIT")
                self._connection = engine.connect()
            if self._is_held:
                self._connection.execute(_PING)
            else:
                held = self._connection.scalar(_HOLD, {"worker": self._worker})
                self._is_held = bool(held)
        except SQLAlchemyError as error:
            reason = str(error).splitlines()[0]
            log.warning(
                "The worker is not known to be alive: %s", reason, extra=while_away(DATABASE)
            )
            self.free()

    def free(self) -> None:
        """Release the lock: its connection is lost, or this worker is about to end."""
        self._is_held = False
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.invalidate()
            connection.close()
        except SQLAlchemyError as error:
            log.debug("A lost connection could not be closed: %s", error)


def find_dead_workers(session: Session) -> set[str]:
    """Return the workers that own running turns but no longer hold their lock."""
    owners = session.scalars(_OWNERS).all()
    return {name for name in owners if name and session.scalar(_IS_FREE, {"worker": name})}


def hand_over(session: Session, worker: str) -> None:
    """Let the turns of a worker that ends on purpose be claimed immediately, without a loss."""
    session.execute(
        update(TurnRow)
        .where(TurnRow.worker == worker, TurnRow.status == TurnStatus.RUNNING)
        .values(lease_until=text("clock_timestamp()"), worker=None)
    )


def end_leases(session: Session, workers: set[str]) -> int:
    """Let dead workers' turns be claimed immediately; return how many this has freed.

    The others are being claimed right now; writing them again would delay those claims.
    """
    if not workers:
        return 0
    now = func.clock_timestamp()
    ended = session.execute(
        update(TurnRow)
        .where(TurnRow.worker.in_(workers), TurnRow.status == TurnStatus.RUNNING)
        .where(TurnRow.lease_until > now)
        .values(lease_until=now)
        .execution_options(synchronize_session=False)
    )
    return int(ended.rowcount)  # type: ignore[attr-defined]  # an UPDATE's is a CursorResult
