"""A worker process's life: its threads start, take turns, and end without losing one."""

import logging
import threading
import time
from functools import partial
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from backend.turns.life import hand_over
from backend.turns.presence import Presence
from backend.turns.runner import Runtime, run_waiting_turn
from worker.sweeper import Sweeper
from worker.worker import ThreadWorker

GRACE_SECONDS = 8.0  # how long turns in hand may go on after SIGTERM; then others take them over
LOOK_SECONDS = 0.5
log = logging.getLogger("worker")


class _Part(Protocol):
    def start(self) -> None: ...


class WorkerProcess:
    """Runs turns in threads until it is told to stop, soon, or to drain, in its own time."""

    def __init__(self, runtime: Runtime) -> None:
        services, capacity = runtime.services, runtime.services.settings.worker_turns
        self._runtime = runtime
        self._stopping = threading.Event()
        self._is_urgent = threading.Event()
        self._sweeper = Sweeper(services)
        self._presence = Presence(
            services.redis, runtime.name, capacity, lambda: runtime.leases.count, self.drain
        )
        names = (f"{runtime.name}.{number}" for number in range(capacity))
        find = partial(run_waiting_turn, runtime)
        self._workers = [ThreadWorker(services.queue.rq, name, find) for name in names]
        self._threads = [
            threading.Thread(target=worker.work_until, args=(self._stopping,), daemon=True)
            for worker in self._workers
        ]

    def stop(self) -> None:
        """Take no more turns; those in hand may go on for a grace period."""
        self._is_urgent.set()
        self._stopping.set()

    def drain(self) -> None:
        """Take no more turns; end when those in hand have ended."""
        log.info("Worker %s drains", self._runtime.name)
        self._stopping.set()

    def run(self) -> None:
        """Work until told to end."""
        runtime = self._runtime
        parts: list[_Part] = [runtime.loop, runtime.leases, self._sweeper, self._presence]
        for part in [*parts, *self._threads]:
            part.start()
        log.info("Worker %s runs up to %s turns at once", runtime.name, len(self._workers))
        self._stopping.wait()
        for worker in self._workers:
            worker.stop()
        self._wait_for_threads()
        self._sweeper.close()
        self._presence.close()
        self._hand_over()
        runtime.sources.close()
        runtime.loop.close()

    def _wait_for_threads(self) -> None:
        """Let the turns in hand end: for the grace period once it is urgent, else for ever."""
        deadline = float("inf")
        while any(thread.is_alive() for thread in self._threads):
            if self._is_urgent.is_set():
                deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
            if time.monotonic() > deadline:
                return
            time.sleep(LOOK_SECONDS / 5)

    def _hand_over(self) -> None:
        """End the turns still in hand here, so that others take them over at once."""
        runtime = self._runtime
        count = runtime.leases.count
        runtime.leases.close()
        if not count:
            return
        log.info("Worker %s hands %s turns over", runtime.name, count)
        try:
            with runtime.services.database.transaction() as session:
                hand_over(session, runtime.name)
        except SQLAlchemyError as error:
            log.warning("Their leases end by themselves, the database does not answer: %s", error)
