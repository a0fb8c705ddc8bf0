"""Telling webhooks: sends what is due, many receivers at once, each in order per session."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from uuid import UUID

import httpx2
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.logs.fields import add_fields
from backend.logs.outages import DATABASE, while_away
from backend.turns.process.services import Services
from backend.webhooks.deliveries import (
    PAUSES,
    Taken,
    forget_old,
    prepare,
    record,
    take,
)
from backend.webhooks.sending import Answer, open_sender, send
from worker.background import Background

LOOK_SECONDS = 1.0
MOST = 256  # requests at once; a slow receiver has at most AT_ONCE of them
CONNECTIONS = 1  # to the database, apart from those of turns
CLEAN_SECONDS = 600.0
log = logging.getLogger(__name__)
T = TypeVar("T")


class WebhookTeller(Background):
    """Several may run: each delivery is taken by one of them."""

    name = "webhook teller"

    def __init__(self, services: Services, pauses: Sequence[float] = PAUSES) -> None:
        super().__init__()
        self._settings = services.settings
        self._database = services.database.aside(CONNECTIONS)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix=self.name)
        self._pauses = pauses
        self._cleaned_at = time.monotonic()
        self._busy: dict[asyncio.Task[None], UUID] = {}

    def _run(self) -> None:
        while not self._closing.is_set():
            self._try(lambda: asyncio.run(self._tell_until_closed()))
            self._closing.wait(LOOK_SECONDS)
        self._threads.shutdown(wait=False)
        self._database.close()

    async def _tell_until_closed(self) -> None:
        self._busy.clear()
        async with open_sender(self._settings.outgoing) as client:
            while not self._closing.is_set():
                await self._clean()
                if len(self._busy) < MOST:
                    for one in await self._do(lambda s: take(s, set(self._busy.values()))):
                        self._busy[asyncio.create_task(self._tell(client, one))] = one.webhook_id
                await self._wait()

    async def _wait(self) -> None:
        """Wait for the next look: sooner if something has been sent, as more may follow it."""
        if not self._busy:
            await asyncio.sleep(LOOK_SECONDS)
            return
        done, _ = await asyncio.wait(
            self._busy, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            del self._busy[task]

    async def _tell(self, client: httpx2.AsyncClient, taken: Taken) -> None:
        """Send one delivery. Without an outcome it is tried again once it counts as lost."""
        add_fields(webhook=taken.webhook_id, delivery=taken.number)
        try:
            given = await self._do(lambda session: prepare(session, self._settings, taken))
            if given is None:
                return
            if isinstance(given, Answer):
                answer = given
            else:
                answer = await send(client, given.url, given.headers, given.body)
            await self._do(lambda session: record(session, taken, answer, self._pauses))
        except SQLAlchemyError as error:
            reason = str(error).splitlines()[0]
            log.warning("A delivery has no outcome yet: %s", reason, extra=while_away(DATABASE))
        except Exception:  # the edge: one delivery must not end the others
            log.exception("A delivery failed")

    async def _clean(self) -> None:
        if time.monotonic() - self._cleaned_at >= CLEAN_SECONDS:
            self._cleaned_at = time.monotonic()
            await self._do(forget_old)

    async def _do(self, work: Callable[[Session], T]) -> T:
        """Do a piece of work in a transaction, in a thread."""

        def run() -> T:
            with self._database.transaction() as session:
                return work(session)

        return await asyncio.get_running_loop().run_in_executor(self._threads, run)
