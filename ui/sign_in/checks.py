"""Whether people sign in here, and whether their sign-ins still hold: asked of the API.

One process asks for all of its browsers, once for each token however many requests and sockets
carry it.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

import httpx
from pydantic import ValidationError

from backend.schemas.people.account import Account, Ways
from ui.async_api import AsyncApi

CHECK_SECONDS = 3.0  # how old an answer may be; the API remembers callers for two seconds more
WAYS_SECONDS = 30.0  # between two questions whether people sign in, while nobody does
AGAIN_SECONDS = 1.0  # between two questions that nobody answers
PATIENCE = httpx.Timeout(3.0)
T = TypeVar("T")
MOST_KNOWN = 10_000
MOST_ENDED = 1_000
log = logging.getLogger(__name__)


class Unavailable(Exception):
    """The service does not answer, and has never said anything of this token."""


@dataclass(frozen=True)
class _Known:
    account: Account
    asked_at: float


@dataclass
class _Watch:
    """The one check that all sockets of a token share while any is open."""

    ended: asyncio.Task[None]
    wake: asyncio.Event
    sockets: int = 0


@dataclass
class _Accounts:
    """Whether people sign in, as last heard; None: the service has not said so yet."""

    is_so: bool | None = None
    asked_at: float = -WAYS_SECONDS
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_fresh(self) -> bool:
        """Whether there is no need to ask again: whoever turns accounts off restarts the pages."""
        kept = AGAIN_SECONDS if self.is_so is None else WAYS_SECONDS
        return bool(self.is_so) or time.monotonic() - self.asked_at < kept


class Checks:
    """Checks sign-ins for the requests and sockets of this process, in its one event loop."""

    def __init__(self, api: AsyncApi) -> None:
        self._api = api
        self._accounts = _Accounts()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._ended: OrderedDict[str, float] = OrderedDict()  # when a token was nobody's
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}
        self._watches: dict[str | None, _Watch] = {}

    async def has_accounts(self) -> bool:
        """Return whether people sign in; False also while that is unknown.

        Nothing can leak then: this process has read nothing from the service yet, which answers no
        call without a token.
        """
        accounts = self._accounts
        if not accounts.is_fresh:
            async with accounts.asking:
                if not accounts.is_fresh:
                    with suppress(Unavailable):
                        await self.list_ways()
                    accounts.asked_at = time.monotonic()
        return bool(accounts.is_so)

    async def list_ways(self) -> Ways:
        """Return how people sign in. Raise Unavailable."""
        try:
            answer = await self._api.as_caller(None).calls.get("sign-in-ways", timeout=PATIENCE)
            ways = Ways.read(answer.raise_for_status().content)
        except (httpx.HTTPError, ValidationError) as error:
            raise Unavailable from error
        self._accounts.is_so = bool(ways.items)
        return ways

    async def find(self, token: str) -> Account | None:
        """Return whose sign-in a token is of, as it was CHECK_SECONDS ago; None if it has ended.

        While the service does not answer, what it said last holds. Raise Unavailable.
        """
        if (account := self._fresh(token)) is not None:
            return account
        async with self._alone(token):
            if (account := self._fresh(token)) is not None or self._has_ended(token):
                return account
            return await self._ask(token)

    def forget(self, token: str, user_id: str | None = None) -> None:
        """Ask again at once: a sign-in, or all of this person's, has just ended.

        Their sockets are closed with them.
        """
        known = self._known.items()
        ended = {one for one, it in known if user_id and it.account.user_id == user_id}
        for one in ended | {token}:
            self._known.pop(one, None)
            if watch := self._watches.get(one):
                watch.wake.set()

    @contextmanager
    def watching(self, token: str | None) -> Iterator[asyncio.Task[None]]:
        """Give a task that is done as soon as a token's sign-in has ended.

        Without a token: as soon as people have to sign in.
        """
        watch = self._watches.get(token)
        if watch is None or watch.ended.done():
            wake = asyncio.Event()
            watch = _Watch(asyncio.create_task(self._until_ended(token, wake)), wake)
            self._watches[token] = watch
        watch.sockets += 1
        try:
            yield watch.ended
        finally:
            watch.sockets -= 1
            if not watch.sockets:
                watch.ended.cancel()
                if self._watches.get(token) is watch:
                    del self._watches[token]

    async def _until_ended(self, token: str | None, wake: asyncio.Event) -> None:
        while await self._holds(token):
            with suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), CHECK_SECONDS)
            wake.clear()

    async def _holds(self, token: str | None) -> bool:
        if not await self.has_accounts():
            return True
        try:
            return token is not None and await self.find(token) is not None
        except Unavailable:
            return True  # an outage ends nothing; the next check comes soon

    def _fresh(self, token: str) -> Account | None:
        known = self._known.get(token)
        is_fresh = known and time.monotonic() - known.asked_at < CHECK_SECONDS
        return known.account if known and is_fresh else None

    def _has_ended(self, token: str) -> bool:
        """Whether a token was nobody's a moment ago: a tab that is closed asks several times."""
        return time.monotonic() - self._ended.get(token, -CHECK_SECONDS) < CHECK_SECONDS

    async def _ask(self, token: str) -> Account | None:
        try:
            calls = self._api.as_caller(token, is_unattended=True).calls
            answer = await calls.get("account", timeout=PATIENCE)
            if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
                self._known.pop(token, None)
                _put(self._ended, token, time.monotonic(), MOST_ENDED)
                return None
            account = Account.read(answer.raise_for_status().content)
        except (httpx.HTTPError, ValidationError) as error:
            if known := self._known.get(token):
                return known.account
            log.warning("A sign-in cannot be checked: %s", type(error).__name__)
            raise Unavailable from error
        _put(self._known, token, _Known(account, time.monotonic()), MOST_KNOWN)
        return account

    @asynccontextmanager
    async def _alone(self, token: str) -> AsyncIterator[None]:
        """Let one ask for a token at a time; the others then find its answer."""
        lock, count = self._locks.get(token, (asyncio.Lock(), 0))
        self._locks[token] = lock, count + 1
        try:
            async with lock:
                yield
        finally:
            lock, count = self._locks[token]
            if count == 1:
                del self._locks[token]
            else:
                self._locks[token] = lock, count - 1


def _put(kept: OrderedDict[str, T], token: str, value: T, most: int) -> None:
    """Keep a value, and at most so many of the latest."""
    kept[token] = value
    kept.move_to_end(token)
    while len(kept) > most:
        kept.popitem(last=False)
