"""Detects a PostgreSQL that hangs: its system keeps connections alive, but it does not answer.

Neither network nor server timeouts end calls that wait for it. Therefore a thread checks the
connections of a process regularly, and if one has waited for a moment, asks PostgreSQL for a
heartbeat. Without an answer it ends all waiting calls and refuses new ones immediately until
PostgreSQL answers again. Using a connection costs nothing extra.
"""

import logging
import os
import select
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum, auto
from typing import Any

import psycopg2
from psycopg2 import extensions
from sqlalchemy.exc import OperationalError

LOOK_SECONDS = 0.25
SILENT_SECONDS = 3.0
LONGEST_SECONDS = 300.0  # no statement takes this long, because the server ends each much sooner
SUSPICIOUS_LOOKS = 2
PART = "database"  # as the log names it; of several that say it is away, or back, one is written
ANSWERS_AGAIN = "The database answers again"
log = logging.getLogger(__name__)


class DatabaseUnresponsive(OperationalError):
    """PostgreSQL accepts connections but does not answer on them."""

    code = ""  # no link to SQLAlchemy's page on these errors, which does not cover this one

    def __init__(self) -> None:
        super().__init__(None, None, psycopg2.OperationalError("the database does not respond"))


Connects = Callable[[], Iterable[Callable[[], Any]]]


class Watch:
    """Watches the connections of one pool.

    `connects` gives for each server that may answer what begins a connection, without waiting;
    `reached` is told of the connection to the one that did.
    """

    def __init__(self, connects: Connects, reached: Callable[[Any], object]) -> None:
        self._pulse = Pulse(connects, reached)
        self._wires: dict[Any, _Wire] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_suspicious = False
        self._stands_still = False
        self._is_away = False

    def check(self) -> None:
        """Raise DatabaseUnresponsive while the database does not answer."""
        if self._stands_still:
            raise DatabaseUnresponsive

    def suspect(self, error: BaseException) -> None:
        """Say once that the database is away, and request a heartbeat soon."""
        if not self._is_away:
            self._is_away = True
            reason = (str(error).strip().splitlines() or [""])[0]
            log.warning("The database does not answer: %s", reason, extra={"away": PART})
        self._is_suspicious = True
        self._begin()

    def used(self) -> None:
        """Say that the database is back, if it was away: a connection is taken from the pool."""
        if self._is_away:
            self._is_away = False
            log.warning(ANSWERS_AGAIN, extra={"back": PART})

    def opened(self, connection: Any) -> None:
        """Watch this connection from now on."""
        with self._lock:
            self._wires[connection] = _Wire(connection)
        self._begin()

    def closed(self, connection: Any) -> None:
        """Stop watching a connection that is about to be closed."""
        with self._lock:
            wire = self._wires.pop(connection, None)
        if wire:
            wire.close()

    def close(self) -> None:
        """Stop watching."""
        self._closing.set()

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="watch", daemon=True)
                self._thread.start()

    def _look(self) -> None:
        while not self._closing.wait(LOOK_SECONDS):
            if self._is_any_slow() or self._is_suspicious or self._stands_still:
                self._is_suspicious = False
                self._judge(self._pulse.is_felt())
                if self._pulse.has_moved:
                    self._cut_all()  # what waits for the server that was passed over, above all
        self._pulse.close()

    def _is_any_slow(self) -> bool:
        with self._lock:
            wires = list(self._wires.values())
            looks = [wire.look() for wire in wires]
        for wire, waited in zip(wires, looks, strict=True):
            if waited * LOOK_SECONDS > LONGEST_SECONDS:
                wire.cut()
        return max(looks, default=0) >= SUSPICIOUS_LOOKS

    def _judge(self, is_alive: bool) -> None:
        was_alive, self._stands_still = not self._stands_still, not is_alive
        if not is_alive:
            self._cut_all()
        if was_alive and not is_alive:
            log.error(
                "No answer from the database for %g s: ending all calls",
                SILENT_SECONDS,
                extra={"away": PART},
            )
        elif is_alive and not was_alive:
            log.warning(ANSWERS_AGAIN, extra={"back": PART})

    def _cut_all(self) -> None:
        with self._lock:
            for wire in self._wires.values():
                wire.cut()


class Pulse:
    """Asks PostgreSQL for a heartbeat, on a separate, non-blocking connection."""

    def __init__(self, connects: Connects, reached: Callable[[Any], object]) -> None:
        self._connects, self._reached = connects, reached
        self._line: Any = None
        self.has_moved = False  # the last time, to another server than one that says nothing

    def is_felt(self) -> bool:
        """Return whether PostgreSQL answers, even with a refusal.

        A server that says nothing within SILENT_SECONDS does not; then another one has to work.
        """
        self.has_moved = False
        if self._line is not None:
            return self._ask() is not Answer.NONE
        answers = set()
        for connect in self._connects():
            answers.add(answer := self._ask(connect))
            if answer is Answer.YES:
                self._reached(self._line)
                self.has_moved = Answer.NONE in answers
                return True
        return Answer.NONE not in answers

    def close(self) -> None:
        """Close the connection."""
        line, self._line = self._line, None
        if line is not None:
            with suppress(psycopg2.Error):
                line.close()

    def _ask(self, connect: Callable[[], Any] | None = None) -> "Answer":
        """Ask a server, over the connection that is kept or a new one; keep it if it works."""
        answer = Answer.NONE
        try:
            if connect is not None:
                self._line = connect()
            if connect is None or self._hears():
                asking = self._line.cursor()  # kept: without it there is no answer to be had
                asking.execute("SELECT 1")
                answer = Answer.YES if self._hears() else Answer.NONE
        except (psycopg2.Error, ValueError):  # refused or closed
            answer = Answer.REFUSAL
        if answer is not Answer.YES:
            self.close()
        return answer

    def _hears(self) -> bool:
        """Drive the connection until its request is done; return False after SILENT_SECONDS."""
        while (wants := self._line.poll()) != extensions.POLL_OK:
            wire = select.poll()
            reading = wants == extensions.POLL_READ
            wire.register(self._line.fileno(), select.POLLIN if reading else select.POLLOUT)
            if not wire.poll(SILENT_SECONDS * 1000):
                return False
        return True


class Answer(Enum):
    """What a server has answered."""

    YES = auto()
    REFUSAL = auto()
    NONE = auto()


class _Wire:
    """A connection's socket, and for how many checks it has waited for an answer."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        # Duplicated: the driver may close its descriptor at any time, and its number may be reused.
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        self._looks = 0

    def look(self) -> int:
        """Check whether it waits; return for how many checks in a row it has."""
        with suppress(psycopg2.Error):
            status = self._connection.get_transaction_status()
            waits = status == extensions.TRANSACTION_STATUS_ACTIVE
            self._looks = self._looks + 1 if waits else 0
        return self._looks

    def cut(self) -> None:
        """Shut the socket down, which ends waiting calls; the pool then discards the connection."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the duplicate."""
        self._socket.close()
