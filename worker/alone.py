"""A turn that may be what ends workers runs in a process of its own, until it has saved a step.

A worker that ends takes all of its turns with it, and nothing says which of them was at fault.
"""

import ctypes
import logging
import signal
import subprocess
import sys
import threading
import time
from uuid import UUID

from backend.turns.run.runner import Runtime, run_turn
from worker.process import ENDING_SECONDS, LOOK_SECONDS, end_leases
from worker.watchdog import Watchdog

WAIT_SECONDS = 1.0
PR_SET_PDEATHSIG = 1
log = logging.getLogger("worker")


class SuspectProcesses:
    """Runs suspects each in a process of its own, one at a time; others are announced again."""

    def __init__(self) -> None:
        self._is_free = threading.Semaphore()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def run(self, turn_id: UUID) -> None:
        """Run the turn until its process has ended; return soon if another one is running."""
        if not self._is_free.acquire(timeout=WAIT_SECONDS):
            return
        try:
            if not self._is_closed:
                self._run(turn_id)
        except OSError as error:
            log.warning("Turn %s cannot have a process of its own: %s", turn_id, error)
        finally:
            self._is_free.release()

    def close(self) -> None:
        """Let a running process hand its turn over, and start no other one."""
        self._is_closed = True
        if process := self._process:
            process.terminate()

    def _run(self, turn_id: UUID) -> None:
        log.info("Turn %s has lost two workers: it runs in a process of its own", turn_id)
        command = [sys.executable, "-m", "worker", str(turn_id)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603  # our own
        self._process = process
        if self._is_closed:
            process.terminate()
        process.wait()
        self._process = None


class SuspectWorker:
    """The process of one suspect."""

    def __init__(self, runtime: Runtime, watchdog_seconds: float, turn_id: UUID) -> None:
        self._runtime = runtime
        self._turn = threading.Thread(target=run_turn, args=(runtime, turn_id), daemon=True)
        self._stopping = threading.Event()
        self._beaten_at = time.monotonic()
        self._watchdog = Watchdog(runtime.loop, self._silence, watchdog_seconds)

    def stop(self) -> None:
        """Hand the turn over. Call it from any thread but the main one."""
        self._stopping.set()
        self._watchdog.expect_end(LOOK_SECONDS + ENDING_SECONDS)

    def run(self) -> None:
        """Run the turn until it ends, waits or has saved a step, or until told to end."""
        runtime = self._runtime
        _end_with_parent()
        for part in (runtime.services.sandbox, runtime.loop, self._watchdog, runtime.leases):
            part.start()
        self._turn.start()
        while self._turn.is_alive() and not self._stopping.is_set():
            self._beaten_at = time.monotonic()
            self._turn.join(LOOK_SECONDS)
        self._watchdog.expect_end(ENDING_SECONDS)
        end_leases(runtime, are_left=self._turn.is_alive())
        runtime.services.sandbox.close()
        runtime.loop.close()

    def _silence(self) -> float:
        return max(time.monotonic() - self._beaten_at - LOOK_SECONDS, 0.0)


def _end_with_parent() -> None:
    """Be told to end when the worker that waits for this process does, where the kernel can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
