"""A worker process: its threads start, take turns, and end without losing one."""

import logging
import threading
import time

from sqlalchemy.exc import SQLAlchemyError

from backend.operations.workers import Presence
from backend.turns.process.liveness import hand_over
from backend.turns.run.runner import Runtime
from worker.importer import Importer
from worker.janitor import Janitor
from worker.price_reader import PriceReader
from worker.server_checks import ServerChecks
from worker.sweeper import Sweeper
from worker.threads import WorkerThreads
from worker.watchdog import Watchdog
from worker.webhooks import WebhookTeller

GRACE_SECONDS = 8.0  # for running turns after SIGTERM; then other workers take them over
LOOK_SECONDS = 0.5
log = logging.getLogger("worker")


class WorkerProcess:
    """Runs turns in threads until it is told to stop soon, or to drain without a deadline."""

    def __init__(self, runtime: Runtime, watchdog_seconds: float) -> None:
        services, capacity = runtime.services, runtime.services.settings.worker_turns
        self._runtime = runtime
        self._stopping = threading.Event()
        self._is_told = False
        self._beaten_at = time.monotonic()
        self._background = (
            Sweeper(services),
            Janitor(services),
            Importer(runtime),
            ServerChecks(runtime),
            PriceReader(runtime.models.prices),
            WebhookTeller(services),
        )
        self._presence = Presence(
            services.redis,
            runtime.name,
            capacity,
            count_turns=lambda: runtime.leases.count,
            count_dropped=lambda: services.events.dropped,
            loop_silence=lambda: runtime.loop.silence,
            on_drain=self.drain,
        )
        self._threads = WorkerThreads(runtime, capacity)
        self._watchdog = Watchdog(runtime.loop, lambda: self.silence, watchdog_seconds)

    @property
    def silence(self) -> float:
        """Return for how many seconds the main thread has done nothing. Call it from any thread."""
        return max(time.monotonic() - self._beaten_at - LOOK_SECONDS, 0.0)

    def stop(self) -> None:
        """Take no more turns; running ones may continue for a grace period.

        For signal handlers, which interrupt the main thread anywhere, also in a handler: a lock
        that it takes or holds just then would never be released.
        """
        self._is_told = True

    def drain(self) -> None:
        """Take no more turns; end when the running ones have ended."""
        log.info("Worker %s drains", self._runtime.name)
        self._stopping.set()

    def run(self) -> None:
        """Work until told to end."""
        runtime = self._runtime
        keepers = (runtime.leases, *self._background, self._presence)
        sandbox = runtime.services.sandbox
        for part in (sandbox, runtime.loop, self._watchdog, *keepers, self._threads):
            part.start()
        capacity = runtime.services.settings.worker_turns
        log.info("Worker %s runs up to %s turns at once", runtime.name, capacity)
        self._wait_until_told()
        self._threads.stop()
        self._wait_for_turns()
        for part in (*self._background, self._presence):
            self._beaten_at = time.monotonic()
            part.close()
        hand_turns_over(runtime)
        runtime.services.sandbox.close()
        self._watchdog.close()
        runtime.loop.close()

    def _wait_until_told(self) -> None:
        while not (self._is_told or self._stopping.wait(LOOK_SECONDS)):
            self._beaten_at = time.monotonic()
        self._stopping.set()

    def _wait_for_turns(self) -> None:
        """Wait for running turns: for the grace period once stopped, otherwise indefinitely."""
        deadline = float("inf")
        while not self._threads.has_left:
            self._beaten_at = time.monotonic()
            if self._is_told:
                if self._runtime.suspects:
                    self._runtime.suspects.close()
                deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
            if time.monotonic() > deadline:
                return
            time.sleep(LOOK_SECONDS / 5)


def hand_turns_over(runtime: Runtime) -> None:
    """Release the turns still running here, so that others take them over immediately."""
    count = runtime.leases.count
    runtime.leases.close()
    if not count:
        return
    log.info("Worker %s hands %s turns over", runtime.name, count)
    try:
        with runtime.services.database.transaction() as session:
            hand_over(session, runtime.name)
    except SQLAlchemyError as error:
        log.warning(
            "Their leases end by themselves, the database does not answer: %s",
            str(error).splitlines()[0],
        )
