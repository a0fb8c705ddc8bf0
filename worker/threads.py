"""The threads of a worker process: one per running turn, and a few that wait for the next."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from backend.turns.run.runner import Runtime
from worker.worker import ThreadWorker

FEWEST_WAITING = 2
MOST_WAITING = 16
LOOK_SECONDS = 1.0
log = logging.getLogger(__name__)


class WorkerThreads:
    """Threads, each an RQ worker, so that RQ's own view lists every running turn.

    A thread that waits for a job polls Redis each second, so hundreds of them would keep a
    processor busy for nothing. Therefore as many wait as are working, within bounds, so that a
    burst of turns finds threads soon. A thread that takes a turn starts others, up to the capacity;
    one that has waited a second for nothing leaves if enough others wait. None leaves between two
    turns that follow each other, since a new one registers with Redis first.
    """

    def __init__(self, runtime: Runtime, capacity: int) -> None:
        self._runtime = runtime
        self._capacity = capacity
        self._numbers = count()
        self._lock = threading.Lock()
        self._workers: set[ThreadWorker] = set()
        self._busy: set[ThreadWorker] = set()
        self._stopping = threading.Event()
        self._pulse = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def start(self) -> None:
        """Start taking turns."""
        self._pulse.start()
        self._fill()

    def stop(self) -> None:
        """Take no more turns."""
        self._stopping.set()

    @property
    def has_left(self) -> bool:
        """Return whether all threads have finished their turns after `stop`."""
        return not self._workers

    @property
    def _wanted_waiting(self) -> int:
        return min(max(FEWEST_WAITING, len(self._busy)), MOST_WAITING)

    @contextmanager
    def at_work(self, worker: ThreadWorker) -> Iterator[None]:
        """Count the worker as busy during the block: another one waits in its place."""
        with self._lock:
            self._busy.add(worker)
        self._fill()
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(worker)

    def leave_if_spare(self, worker: ThreadWorker) -> None:
        """Let a worker that has waited for nothing end if enough others wait."""
        with self._lock:
            if len(self._workers) - len(self._busy) > self._wanted_waiting:
                self._workers.discard(worker)
                worker.leave()

    def _fill(self) -> None:
        with self._lock:
            waiting = len(self._workers) - len(self._busy)
            wanted = min(self._wanted_waiting - waiting, self._capacity - len(self._workers))
            new = [] if self._stopping.is_set() else [self._enlist() for _ in range(wanted)]
        for worker in new:
            try:
                threading.Thread(target=self._work, args=(worker,), daemon=True).start()
            except RuntimeError as error:  # the system refuses more threads
                log.warning("Worker %s runs fewer turns at once: %s", self._runtime.name, error)
                self._dismiss(worker)

    def _enlist(self) -> ThreadWorker:
        name = f"{self._runtime.name}.{next(self._numbers)}"
        worker = ThreadWorker(
            self._runtime, name, self._stopping, self.at_work, self.leave_if_spare
        )
        # RQ's registries are cleaned from time to time, not by each starting thread.
        cleaned = (other.last_cleaned_at for other in self._workers)
        worker.last_cleaned_at = max(filter(None, cleaned), default=None)
        self._workers.add(worker)
        return worker

    def _work(self, worker: ThreadWorker) -> None:
        try:
            worker.work_until_told()
        except Exception:  # the edge: a failed thread must be replaced
            log.exception("A worker thread has failed")
            self._stopping.wait(LOOK_SECONDS)
        finally:
            self._dismiss(worker)
            self._fill()

    def _dismiss(self, worker: ThreadWorker) -> None:
        with self._lock:
            self._workers.discard(worker)

    def _beat(self) -> None:
        """Report all running jobs to Redis from one thread: RQ would use one for each."""
        while not (self._stopping.is_set() and self.has_left):
            time.sleep(LOOK_SECONDS)
            with self._lock:
                busy = list(self._busy)
            for worker in busy:
                worker.beat()
