"""The tool journal of one claim in PostgreSQL: each write is fenced by the attempt number."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from uuid import UUID

from sqlalchemy import Boolean, Table, Text, bindparam, case, delete, func, select
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session

from backend.errors.turns import LeaseLost
from backend.tools.journal import CallKey, Recorded
from backend.tools.registry import Effect
from backend.turns.ownership import OWNED, TURNS, attempt_key
from backend.types import JSON
from db.models.turns.tool_journal import ToolJournalRow
from db.session import Database, dump_json

_WRITERS = ThreadPoolExecutor(8, thread_name_prefix="journal")

_VALUES = ("message_id", "number", "attempt", "name", "effect")
_RESULT = bindparam("result", type_=Text).cast(JSONB)
_FINISHED = case((bindparam("is_finished", type_=Boolean), func.clock_timestamp()))
# Into the table: for a row's class, the session would insert the values as one row.
_INSERT = insert(cast(Table, ToolJournalRow.__table__)).from_select(
    ["turn_id", *_VALUES, "result", "finished_at"],
    # No row when the turn is no longer this attempt's. The lock makes the next claim, which reads
    # the journal, wait for an uncommitted write.
    select(TURNS.c.id, *map(bindparam, _VALUES), _RESULT, _FINISHED)
    .where(OWNED)
    .with_for_update(read=True),
)
_WRITE = _INSERT.on_conflict_do_update(
    index_elements=["turn_id", "message_id", "number"],
    set_={name: _INSERT.excluded[name] for name in ("attempt", "result", "finished_at")},
)

_READ = select(ToolJournalRow.number, ToolJournalRow.result).where(
    ToolJournalRow.turn_id == bindparam("turn_id"),
    ToolJournalRow.message_id == bindparam("message_id"),
)


class TurnJournal:
    """The journal of one attempt: written around its tool calls, read once, at the claim.

    `patience`: for how many seconds a write is retried while the database is down.
    """

    def __init__(
        self,
        database: Database,
        turn_id: UUID,
        attempt: int,
        recorded: Mapping[CallKey, Recorded],
        patience: float,
    ) -> None:
        self._database = database
        self._turn_id = turn_id
        self._attempt = attempt
        self._recorded = recorded
        self._patience = patience
        self._starting = asyncio.Lock()  # first in, first out: calls start in order

    def recorded(self, key: CallKey) -> Recorded | None:
        """Return what earlier attempts recorded of this call; None when it never began."""
        return self._recorded.get(key)

    async def started(self, key: CallKey, name: str, effect: Effect) -> None:
        """Record that the tool is about to run. Raise LeaseLost when this attempt may not."""
        async with self._starting:
            await self._in_thread(key, name, effect, None)

    async def finished(
        self, key: CallKey, name: str, effect: Effect, message: JSON, artifact: JSON | None
    ) -> None:
        """Record the result. Raise LeaseLost when this attempt may not."""
        result = {"message": message, "artifact": artifact}
        await self._in_thread(key, name, effect, dump_json(result))

    async def _in_thread(self, *values: Any) -> None:
        # Not on the loop's default executor: hung tools may hold all of its threads.
        await asyncio.get_running_loop().run_in_executor(_WRITERS, self._write, *values)

    def _write(self, key: CallKey, name: str, effect: Effect, result: str | None) -> None:
        values = {
            **attempt_key(self._turn_id, self._attempt),
            "message_id": key.message_id,
            "number": key.number,
            "attempt": self._attempt,
            "name": name,
            "effect": effect,
            "result": result,
            "is_finished": result is not None,
        }

        def write(session: Session) -> None:
            written = session.execute(_WRITE, values)
            if written.rowcount != 1:  # type: ignore[attr-defined]  # an INSERT's is a CursorResult
                raise LeaseLost

        self._database.retry_transaction(write, self._patience)


def load_journal(session: Session, turn_id: UUID, message_id: str) -> dict[CallKey, Recorded]:
    """Return what earlier attempts recorded of a message's calls; older ones are in the state."""
    rows = session.execute(_READ, {"turn_id": turn_id, "message_id": message_id})
    return {CallKey(message_id, number): _recorded(result) for number, result in rows}


def forget_journal(session: Session, turn_id: UUID) -> None:
    """Drop the journal of a turn that has ended: its results are in both views."""
    session.execute(delete(ToolJournalRow).where(ToolJournalRow.turn_id == turn_id))


def _recorded(result: JSON | None) -> Recorded:
    return Recorded(result["message"], result["artifact"]) if result else Recorded(None)
