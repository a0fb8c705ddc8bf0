"""Admission: of many requests that come together, one begins at a time.

The loop accepts one connection in each of its rounds. If all requests began as they came, a round
would cost milliseconds, and who connects last would wait for the whole crowd before being heard.
"""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

MOST_ROUNDS = 20  # between two that begin, however many more come


class Admission:
    """Lets requests begin in the order in which they came, once the loop has read what is there."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_open = True
        self._has_news = False
        self._rounds = 0  # since one began

    def note_arrival(self) -> None:
        """Hold back those that wait for one more round: more may have come."""
        self._has_news = True

    def queue(self, app: ASGIApp) -> ASGIApp:
        """Return the app, which begins when it is its turn."""

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
        """Once in each round of the loop, until all have begun and nothing more comes.

        A request whose server is ending is cancelled while it waits, and is passed over.
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
