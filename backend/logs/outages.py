"""One line for one fault of the network: that a part is away, and later that it answers again.

Whoever sees a part go and come says so with `away` and `back` as `extra`; whoever only notices that
something does not work without it marks this with `while_away`, and is left out in the meantime.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

DATABASE, REDIS, COLLECTOR = "database", "Redis", "collector"
AWAY, BACK, WHILE_AWAY = "away", "back", "while_away"
# After its end, in which those that had waited report what has passed already.
SETTLE_SECONDS = 2.0
# RQ says for each of its threads that it has lost its connection.
FOLLOWERS = {"rq.worker": REDIS}


def away(part: str) -> Mapping[str, str]:
    """Return the mark of a record that says that a part does not answer."""
    return {AWAY: part}


def back(part: str) -> Mapping[str, str]:
    """Return the mark of a record that says that a part answers again."""
    return {BACK: part}


def while_away(part: str) -> Mapping[str, str]:
    """Return the mark of a record that says nothing new while the part is away."""
    return {WHILE_AWAY: part}


@dataclass
class _Outage:
    began_at: float
    left_out: int = 0
    ended_at: float | None = None


class Outages(logging.Filter):
    """Passes the first word of an outage and the last; counts what it leaves out between them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._outages: dict[str, _Outage] = {}
        self._lock = Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is written."""
        marks = vars(record)
        with self._lock:
            if part := marks.get(BACK):
                return self._ends(part, record)
            if part := marks.get(AWAY):
                return self._begins(part)
            part = marks.get(WHILE_AWAY) or FOLLOWERS.get(record.name)
            return part is None or not self._lasts(part, SETTLE_SECONDS)

    def _begins(self, part: str) -> bool:
        if self._lasts(part):
            return False
        self._outages[part] = _Outage(self._clock())
        return True

    def _lasts(self, part: str, longer: float = 0.0) -> bool:
        """Return whether a part is away, or was so many seconds ago; count what is left out."""
        outage = self._outages.get(part)
        if outage is None:
            return False
        if outage.ended_at is not None and self._clock() >= outage.ended_at + longer:
            return False
        outage.left_out += 1
        return True

    def _ends(self, part: str, record: logging.LogRecord) -> bool:
        outage = self._outages.get(part)
        if outage is None or outage.ended_at is not None:
            return False
        outage.ended_at = self._clock()
        record.seconds = round(outage.ended_at - outage.began_at, 1)
        record.left_out = outage.left_out
        return True
