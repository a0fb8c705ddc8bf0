"""The watchdog: ends a worker whose agents' loop or main thread is blocked.

Its turns run elsewhere: without its main thread a worker would take turns and never end. They count
as lost, so that a turn which blocks every worker is given up eventually.
"""

import faulthandler
import logging
import os
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from backend.turns.process.agent_loop import AgentLoop
from worker.background import Background

LOOKS = 20
EXIT_CODE = 70  # EX_SOFTWARE
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

    def close(self) -> None:
        """Stop watching: the process is about to end."""
        super().close()
        faulthandler.cancel_dump_traceback_later()

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
                    _end(watched)


def _end(watched: _Watched) -> None:
    """Log what is blocked and what all other threads do; exit without clean-up."""
    frame = sys._current_frames().get(watched.thread_id() or 0)
    log.critical(
        "The %s was blocked for %.0f s: this worker ends, its turns go on elsewhere."
        " What blocks it:\n%s",
        watched.name,
        watched.silence(),
        "".join(traceback.format_stack(frame)) if frame else "unknown",
    )
    logging.shutdown()
    faulthandler.dump_traceback(all_threads=True)
    sys.stderr.flush()
    os._exit(EXIT_CODE)
