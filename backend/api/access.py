"""Long requests: while one lasts, its caller is asked about again every few seconds."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from backend.api.callers import Callers
from backend.auth.scope import Scope
from backend.conversations.service import visible_to
from backend.errors.base import AppError
from backend.errors.conversations import SessionNotFound
from backend.errors.people import NotSignedIn
from backend.logs.fields import forget_fields
from backend.logs.outages import DATABASE, while_away
from db.models.conversations.conversation import ConversationRow
from db.session import Database

CHECK_SECONDS = 2.5  # what has ended must not go on for more than five
log = logging.getLogger(__name__)


class LongRequest:
    """A stream or a wait: who asked, as they are now, and about which session."""

    def __init__(self, token: str | None, scope: Scope, session_id: UUID) -> None:
        self.token, self.scope, self.session_id = token, scope, session_id
        self.end: AppError | None = None  # why it must end
        self._ended = asyncio.Event()
        self._tell: Callable[[], None] | None = None

    def on_end(self, tell: Callable[[], None]) -> None:
        """Call this once when the request must end."""
        self._tell = tell

    def end_with(self, reason: AppError) -> None:
        """Have the request end."""
        self.end = reason
        self._ended.set()
        if self._tell:
            self._tell()

    async def ended_or(self, other: Coroutine[Any, Any, None]) -> None:
        """Wait until the request must end, or for something else."""
        both = [asyncio.create_task(other), asyncio.create_task(self._wait())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()

    async def _wait(self) -> None:
        await self._ended.wait()


class Access:
    """The long requests of a process, all checked together on its one event loop."""

    def __init__(
        self, database: Database, callers: Callers, seconds: float = CHECK_SECONDS
    ) -> None:
        self._database, self._callers, self._seconds = database, callers, seconds
        self._requests: set[LongRequest] = set()
        self._thread = anyio.CapacityLimiter(1)
        self._checking: asyncio.Task[None] | None = None

    @contextmanager
    def held(self, token: str | None, scope: Scope, session_id: UUID) -> Iterator[LongRequest]:
        """Check the request while the context lasts."""
        request = LongRequest(token, scope, session_id)
        self._requests.add(request)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.create_task(self._check_while_any())
        try:
            yield request
        finally:
            self._requests.discard(request)

    async def _check_while_any(self) -> None:
        forget_fields()
        while self._requests:
            await asyncio.sleep(self._seconds)
            asked = list(self._requests)
            try:
                ends = await anyio.to_thread.run_sync(self._check, asked, limiter=self._thread)
            except SQLAlchemyError as error:
                words = str(error).splitlines()[0]
                log.info("Long requests go on unchecked: %s", words, extra=while_away(DATABASE))
                continue
            for request, reason in ends.items():
                request.end_with(reason)

    def _check(self, asked: Collection[LongRequest]) -> Mapping[LongRequest, AppError]:
        """Note who the callers are now; return the requests that must end, each with why."""
        tokens = self._callers.find_again({one.token for one in asked if one.token is not None})
        named = {one.scope.user_id for one in asked if one.token is None}
        people = self._callers.find_people(named) if self._callers.local is None else {}
        ends: dict[LongRequest, AppError] = {}
        by_scope: defaultdict[Scope, set[LongRequest]] = defaultdict(set)
        for one in asked:
            if self._callers.local is not None:
                scope: Scope | None = self._callers.local
            elif one.token is None:
                scope = people.get(one.scope.user_id)
            else:
                scope = tokens.get(one.token)
            if scope is None:
                ends[one] = NotSignedIn()
            else:
                one.scope = scope
                by_scope[scope].add(one)
        for scope, requests in by_scope.items():
            visible = self._visible(scope, {one.session_id for one in requests})
            ends |= {one: SessionNotFound() for one in requests if one.session_id not in visible}
        return ends

    def _visible(self, scope: Scope, ids: set[UUID]) -> set[UUID]:
        row = ConversationRow
        with self._database.read() as session:
            return set(session.scalars(select(row.id).where(row.id.in_(ids), visible_to(scope))))
