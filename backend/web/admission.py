"""Admission: of many requests that arrive together, one is started at a time.

The loop accepts one connection per iteration. If every request started on arrival, an iteration
would cost milliseconds, and the last client to connect would wait for all the others.
"""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

MOST_ROUNDS = 20  # loop iterations between two starts, however many more requests arrive


class Admission:
    """Starts requests in order of arrival, once the loop has read what has arrived."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_open = True
        self._has_news = False
        self._rounds = 0  # since a request was started

    def note_arrival(self) -> None:
        """Hold waiting requests back for one more iteration: more may have arrived."""
        self._has_news = True

    def queue(self, app: ASGIApp) -> ASGIApp:
        """Return the app, with each request waiting for its turn to start."""

        async def begin(scope: Scope, receive: Receive, send: Send) -> None:
            await self._wait()
            await app(scope, receive, send)

        return begin

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        if self._is_open:
            self._is_open, self._rounds = False, 0
            loop.call_soon(self._let_in)
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _let_in(self) -> None:
        """Start a waiting request; runs in each loop iteration until none is left and none arrives.

        Requests cancelled while they wait, because the server is stopping, are skipped.
        """
        self._rounds += 1
        is_quiet, self._has_news = not self._has_news, False
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft()
        if is_quiet and not self._waiting:
            self._is_open = True
            return
        asyncio.get_running_loop().call_soon(self._let_in)
        if self._waiting and (is_quiet or self._rounds >= MOST_ROUNDS):
            self._rounds = 0
            self._waiting.popleft().set_result(None)
