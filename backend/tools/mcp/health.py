"""What a process knows about tool servers: current connection attempts and recent failures.

With this, a hung server delays one turn, not every turn of every session.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from mcp.types import Tool

CONNECT_SECONDS = 10.0
GRACE_SECONDS = 3.0  # a Python child process takes about 0.5 s to start, 2 s on a loaded machine
SHORTEST_PAUSE, LONGEST_PAUSE = 2.0, 30.0
PAUSE_TIMES = 3  # the pause is this many times as long as it kept a turn waiting

Attempt = asyncio.Task[list[Tool]]


@dataclass
class _Record:
    """`reason`: why it failed last, in words; `connecting`: the number of current attempts."""

    reason: str = ""
    paused_until: float = float("-inf")
    connected_at: float = float("-inf")
    connecting: int = 0


class ServerHealth:
    """One per process, shared by its turns; only its event loop's thread may use it.

    `connect_seconds`: how long a server may take to connect. A server is identified by its
    template in a domain, with secrets by name.
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
        """Return a shared attempt to connect: the current one, or a new one.

        Turns that begin together, such as those of a lost worker, list a server's tools once.
        """
        if (attempt := self._attempts.get(server)) is None:
            attempt = self._attempts[server] = asyncio.create_task(connect())
            attempt.add_done_callback(lambda _: self._attempts.pop(server))
        return attempt

    def patience(self, server: str) -> float | None:
        """Return how many seconds a turn waits for it; None: until the attempt ends.

        Only a server that failed recently has a shorter wait: one that has always answered and is
        slow this time may run on a busy machine, and a turn needs its tools.
        """
        return GRACE_SECONDS if self.reason(server) else None

    def pause(self, server: str) -> float:
        """Return how many seconds of its pause remain after a failure; 0: try it.

        After the pause one turn tries it first, and the others wait for the outcome.
        """
        record = self._record(server)
        if record.reason and record.connecting:
            return SHORTEST_PAUSE
        return max(record.paused_until - self._clock(), 0.0)

    def reason(self, server: str) -> str:
        """Return why it was last unavailable, in words; empty if it was available."""
        return self._record(server).reason

    def connecting(self, server: str) -> float:
        """Record the start of an attempt; return the current time."""
        self._record(server).connecting += 1
        return self._clock()

    def connected(self, server: str, since: float) -> None:
        """Record that the attempt that began at `since` has connected."""
        record = self._ended(server)
        record.connected_at = self._clock()
        record.reason, record.paused_until = "", float("-inf")

    def failed(self, server: str, since: float, reason: str, allowed: float) -> None:
        """Record that an attempt failed within its `allowed` seconds, and why, in words."""
        record, now = self._ended(server), self._clock()
        if record.connected_at > since:
            return  # others have connected since
        if now - since > allowed + GRACE_SECONDS:
            return  # it was this process that stood still
        pause = min(max(PAUSE_TIMES * (now - since), SHORTEST_PAUSE), LONGEST_PAUSE)
        record.reason, record.paused_until = reason, now + pause

    def given_up(self, server: str) -> None:
        """Record that an attempt was abandoned before its outcome was known."""
        self._ended(server)

    def _ended(self, server: str) -> _Record:
        record = self._record(server)
        record.connecting -= 1
        return record

    def _record(self, server: str) -> _Record:
        return self._records.setdefault(server, _Record())
