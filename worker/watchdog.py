"""The watchdog: ends a worker whose agents' loop or main thread is blocked, or which does not end.

Its turns run elsewhere: without its main thread a worker would take turns and never end. They count
as lost, so that a turn which blocks every worker is given up eventually.
"""

import faulthandler
import logging
import math
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from backend.logs.formats import TRACEBACK
from backend.turns.process.agent_loop import AgentLoop
from worker.background import Background

LOOKS = 20
EXIT_CODE = 70  # EX_SOFTWARE
END_LOOK_SECONDS = 0.2
SAYING_SECONDS = 3.0  # nobody may read the log: then writing to it takes for ever
log = logging.getLogger("worker")


class _Watched(NamedTuple):
    """What must not be blocked: for how many seconds it has been, and the thread it runs in."""

    name: str
    silence: Callable[[], float]
    thread_id: Callable[[], int | None]


class Watchdog(Background):
    """Beside its thread there is a second one in C that needs no interpreter lock.

    The second ends the process where the first cannot run because something, such as a regular
    expression, holds the interpreter's lock. It waits twice as long.
    """

    name = "watchdog"

    def __init__(self, loop: AgentLoop, main_silence: Callable[[], float], seconds: float) -> None:
        super().__init__()
        self._watched = (
            _Watched("agents' loop", lambda: loop.silence, lambda: loop.thread_id),
            _Watched("main thread", main_silence, lambda: threading.main_thread().ident),
        )
        self._seconds = seconds
        self._ends_at = math.inf

    def expect_end(self, seconds: float) -> None:
        """End the process after this time, whatever keeps it; an earlier end remains.

        Call it from any thread.
        """
        self._ends_at = min(self._ends_at, time.monotonic() + seconds)
        left = max(self._ends_at - time.monotonic(), 0.0)
        faulthandler.dump_traceback_later(left + 2 * SAYING_SECONDS, exit=True)
        self._closing.set()

    def _run(self) -> None:
        """Count checks, not seconds: a process that was frozen as a whole is not at fault."""
        pause, still = self._seconds / LOOKS, Counter[str]()
        while not self._closing.is_set():
            faulthandler.dump_traceback_later(2 * self._seconds, exit=True)
            self._closing.wait(pause)
            for watched in self._watched:
                is_silent = watched.silence() > pause
                still[watched.name] = still[watched.name] + 1 if is_silent else 0
                if still[watched.name] >= LOOKS:
                    _end(
                        f"The {watched.name} was blocked for {watched.silence():.0f} s: this worker"
                        " ends, its turns go on elsewhere.",
                        watched.thread_id(),
                    )
        while time.monotonic() < self._ends_at:
            time.sleep(END_LOOK_SECONDS)
        _end("This worker was to end and does not: it is ended.", threading.main_thread().ident)


def _end(reason: str, thread_id: int | None) -> NoReturn:
    """Log why, what blocks that thread and what all others do; exit without clean-up."""
    saying = threading.Thread(target=_say, args=(reason, thread_id), daemon=True)
    try:
        saying.start()
        saying.join(SAYING_SECONDS)
    finally:
        os._exit(EXIT_CODE)


def _say(reason: str, thread_id: int | None) -> None:
    frame = sys._current_frames().get(thread_id or 0)
    stack = "".join(traceback.format_stack(frame)) if frame else "unknown"
    log.critical("%s What blocks it is below", reason, extra={TRACEBACK: stack})
    logging.shutdown()
    faulthandler.dump_traceback(all_threads=True)
    sys.stderr.flush()
