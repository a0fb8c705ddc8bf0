"""What a process knows of tool servers: who connects to them now, and which failed lately.

So that a server which hangs costs one turn its patience, and not every turn of every session.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from mcp.types import Tool

CONNECT_SECONDS = 10.0
GRACE_SECONDS = 3.0  # a child process in Python takes about half a one, on a loaded machine two
SHORTEST_PAUSE, LONGEST_PAUSE = 2.0, 30.0
PAUSE_TIMES = 3  # so many times longer than it has kept a turn waiting is it left alone

Attempt = asyncio.Task[list[Tool]]


@dataclass
class _Record:
    """`reason`: why it failed last, in words; `connecting`: how many do so now."""

    reason: str = ""
    paused_until: float = float("-inf")
    connected_at: float = float("-inf")
    connecting: int = 0


class ServerHealth:
    """One per process, shared by its turns; only its event loop's thread may use it.

    `connect_seconds`: how long a server may take to connect at most. A server is known by how it
    is written in a domain, secrets by name.
    """

    def __init__(
        self,
        connect_seconds: float = CONNECT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.connect_seconds = connect_seconds
        self._clock = clock
        self._records: dict[str, _Record] = {}
        self._attempts: dict[str, Attempt] = {}

    def attempt(
        self, server: str, connect: Callable[[], Coroutine[Any, Any, list[Tool]]]
    ) -> Attempt:
        """Return what comes of connecting, which many may wait for: one that goes on, or a new one.

        Turns that begin together, such as those of a lost worker, ask a server for its tools once.
        """
        if (attempt := self._attempts.get(server)) is None:
            attempt = self._attempts[server] = asyncio.create_task(connect())
            attempt.add_done_callback(lambda _: self._attempts.pop(server))
        return attempt

    def patience(self, server: str) -> float | None:
        """Return how many seconds a turn waits for it; None: until connecting has ended.

        Only a server that failed lately is not waited for to the end: one that has always answered
        and is slow this time may stand on a busy machine, and a turn needs its tools.
        """
        return GRACE_SECONDS if self.reason(server) else None

    def pause(self, server: str) -> float:
        """Return for how many seconds it is still left alone, since it failed; 0: try it.

        After that one turn tries it first, and the others wait for what comes of that.
        """
        record = self._record(server)
        if record.reason and record.connecting:
            return SHORTEST_PAUSE
        return max(record.paused_until - self._clock(), 0.0)

    def reason(self, server: str) -> str:
        """Return why it was last unavailable, in words; nothing if it was."""
        return self._record(server).reason

    def connecting(self, server: str) -> float:
        """Note that somebody begins to connect; return the present moment."""
        self._record(server).connecting += 1
        return self._clock()

    def connected(self, server: str, since: float) -> None:
        """Note that it has connected to whoever began at `since`."""
        record = self._ended(server)
        record.connected_at = self._clock()
        record.reason, record.paused_until = "", float("-inf")

    def failed(self, server: str, since: float, reason: str, allowed: float) -> None:
        """Note that it has not within the seconds that it is `allowed`, and why, in words."""
        record, now = self._ended(server), self._clock()
        if record.connected_at > since:
            return  # others were served meanwhile
        if now - since > allowed + GRACE_SECONDS:
            return  # it was this process that stood still
        pause = min(max(PAUSE_TIMES * (now - since), SHORTEST_PAUSE), LONGEST_PAUSE)
        record.reason, record.paused_until = reason, now + pause

    def given_up(self, server: str) -> None:
        """Note that whoever connected has let go of it before anything was known."""
        self._ended(server)

    def _ended(self, server: str) -> _Record:
        record = self._record(server)
        record.connecting -= 1
        return record

    def _record(self, server: str) -> _Record:
        return self._records.setdefault(server, _Record())
