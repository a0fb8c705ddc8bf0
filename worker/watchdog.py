"""The watchdog: ends a worker process whose agents' loop is blocked, so its turns run elsewhere.

Its turns then count as lost, so that a turn which blocks every worker is given up eventually.
"""

import faulthandler
import logging
import os
import sys
import traceback

from backend.turns.process.agent_loop import AgentLoop
from worker.background import Background

LOOKS = 20
EXIT_CODE = 70  # EX_SOFTWARE
log = logging.getLogger("worker")


class Watchdog(Background):
    """Beside its thread there is a second one in C that needs no interpreter lock.

    The second ends the process where the first cannot run because something, such as a regular
    expression, holds the interpreter's lock. It waits twice as long.
    """

    name = "watchdog"

    def __init__(self, loop: AgentLoop, seconds: float) -> None:
        super().__init__()
        self._loop = loop
        self._seconds = seconds

    def close(self) -> None:
        """Stop watching: the process is about to end."""
        super().close()
        faulthandler.cancel_dump_traceback_later()

    def _run(self) -> None:
        """Count checks, not seconds: a process that was frozen as a whole is not at fault."""
        pause, still = self._seconds / LOOKS, 0
        while not self._closing.is_set():
            faulthandler.dump_traceback_later(2 * self._seconds, exit=True)
            self._closing.wait(pause)
            still = still + 1 if self._loop.silence > pause else 0
            if still >= LOOKS:
                self._end()

    def _end(self) -> None:
        """Log what blocks the loop and what all other threads do; exit without clean-up."""
        log.critical(
            "The agents' loop was blocked for %.0f s: this worker ends, its turns go on"
            " elsewhere. What blocks it:\n%s",
            self._loop.silence,
            self._stack(),
        )
        logging.shutdown()
        faulthandler.dump_traceback(all_threads=True)
        sys.stderr.flush()
        os._exit(EXIT_CODE)

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop.thread_id or 0)
        return "".join(traceback.format_stack(frame)) if frame else "unknown"
