"""Waiting for turns without holding threads: one thread at a time polls for all requests."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Awaitable, Collection
from contextlib import suppress
from uuid import UUID

import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, aliased

from backend.auth.acting import as_system
from backend.auth.scope import Scope
from backend.events.reader import EventReader, LiveEvent
from backend.logs.fields import forget_fields
from backend.logs.outages import DATABASE, while_away
from backend.schemas.conversations.turns import Turn, TurnStatus, WaitsFor
from backend.schemas.events import Interrupt, TurnFinished
from backend.turns.lifecycle import UNFINISHED
from db.models.turns.turn import TurnRow
from db.session import Database

POLL_SECONDS = 1.0  # without Redis no event reports an end
MOST_LARGE = 4  # requests with bodies of megabytes
log = logging.getLogger(__name__)


class Waits:
    """The requests of a process that wait for turns, all on its one event loop."""

    def __init__(
        self, database: Database, reader: EventReader, most_of_person: int, most: int
    ) -> None:
        self._database = database
        self._reader = reader
        self._most_of_person, self._most = most_of_person, most
        self._by_person: Counter[str] = Counter()
        self._large = 0
        self._by_turn: defaultdict[UUID, set[asyncio.Future[None]]] = defaultdict(set)
        self._happened = asyncio.Event()
        self._thread = anyio.CapacityLimiter(1)
        self._asking: asyncio.Task[None] | None = None
        self._is_closed = False

    def close(self) -> None:
        """Have nobody wait any longer: this process is about to end, and the turns go on."""
        self._is_closed = True
        for turn_id in self._by_turn:
            self._tell(turn_id)

    @property
    def count(self) -> int:
        """Return how many requests wait now."""
        return self._by_person.total()

    def has_room(self, scope: Scope, is_large: bool) -> bool:
        """Return whether this person may add a waiting request; a large one holds its memory."""
        if self._is_closed or (is_large and self._large >= MOST_LARGE):
            return False
        return self._by_person[scope.user_id] < self._most_of_person and self.count < self._most

    async def wait(
        self, scope: Scope, turn: Turn, seconds: float, gone: Awaitable[None], is_large: bool
    ) -> None:
        """Wait until waiting longer is pointless, the client is gone, or the time is up."""
        loop = asyncio.get_running_loop()
        said_all: asyncio.Future[None] = loop.create_future()
        leaving = asyncio.ensure_future(gone)

        def hear(event: LiveEvent | None) -> None:
            if event is None or isinstance(event.event, TurnFinished | Interrupt):
                loop.call_soon_threadsafe(self._happened.set)

        stop_listening = self._reader.listen(turn.session_id, hear)
        self._by_person[scope.user_id] += 1
        self._large += is_large
        self._by_turn[turn.id].add(said_all)
        self._ask_now()
        if self._is_closed:
            self._tell(turn.id)
        try:
            ends = {said_all, leaving}
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop_listening()
            leaving.cancel()
            self._by_person[scope.user_id] -= 1
            self._large -= is_large
            self._by_turn[turn.id].discard(said_all)
            if not self._by_turn[turn.id]:
                del self._by_turn[turn.id]

    def _ask_now(self) -> None:
        self._happened.set()
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_while_any_waits())

    async def _ask_while_any_waits(self) -> None:
        forget_fields()
        while self._by_turn:
            self._happened.clear()  # events during the query cause another one
            try:
                await self._tell_who_waits_in_vain()
            except SQLAlchemyError as error:
                reason = str(error).splitlines()[0]
                log.info("Requests for turns keep waiting: %s", reason, extra=while_away(DATABASE))
                await asyncio.sleep(POLL_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._happened.wait()

    async def _tell_who_waits_in_vain(self) -> None:
        ids = list(self._by_turn)
        for turn_id in await anyio.to_thread.run_sync(self._ask, ids, limiter=self._thread):
            self._tell(turn_id)

    def _tell(self, turn_id: UUID) -> None:
        for said_all in self._by_turn.get(turn_id, ()):
            if not said_all.done():
                said_all.set_result(None)

    def _ask(self, turn_ids: Collection[UUID]) -> set[UUID]:
        # One query for all who wait, whoever began to ask.
        with self._database.read() as session, as_system(session):
            return set(turn_ids) - find_worth_waiting_for(session, turn_ids)


def find_worth_waiting_for(session: Session, turn_ids: Collection[UUID]) -> set[UUID]:
    """Return the turns worth waiting for: those not ended and not waiting for people.

    A turn that waits for tasks only, or for nothing more, is worth it. A queued turn is not while
    the first turn of its session waits for people. The ids are those of turns that their owners
    have just submitted.
    """
    other = aliased(TurnRow)
    first = (
        select(other.waits_for)
        .where(other.conversation_id == TurnRow.conversation_id, other.status.in_(UNFINISHED))
        .order_by(other.number)
        .limit(1)
        .scalar_subquery()
    )
    found = session.scalars(
        select(TurnRow.id).where(
            TurnRow.id.in_(turn_ids),
            (TurnRow.status == TurnStatus.RUNNING)
            | (
                (TurnRow.status == TurnStatus.WAITING)
                & TurnRow.waits_for.is_distinct_from(WaitsFor.PEOPLE)
            )
            | ((TurnRow.status == TurnStatus.QUEUED) & first.is_distinct_from(WaitsFor.PEOPLE)),
        )
    )
    return set(found)
