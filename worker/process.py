"""A worker process: its threads start, take turns, and end without losing one."""

import logging
import math
import threading
import time

from sqlalchemy.exc import SQLAlchemyError

from backend.logs.outages import DATABASE, while_away
from backend.operations.workers import Presence
from backend.schemas.operations.work import STALLED_SECONDS
from backend.turns.process.liveness import hand_over
from backend.turns.run.runner import Runtime
from db.schema import newer_text
from worker.background import close_all
from worker.importer import Importer
from worker.janitor import Janitor
from worker.price_reader import PriceReader
from worker.probe import OK, Probe
from worker.schema_watch import SchemaWatch
from worker.server_checks import ServerChecks
from worker.source_watch import SourceWatch
from worker.sweeper import Sweeper
from worker.threads import WorkerThreads
from worker.watchdog import Watchdog
from worker.webhooks import WebhookTeller

LOOK_SECONDS = 0.5
ENDING_SECONDS = 12.0  # for everything but the turns; a database that hangs is noticed in four
AWAY_SECONDS = 5.0  # without an answer of the database
log = logging.getLogger("worker")


class WorkerProcess:
    """Runs turns in threads until it is told to stop soon, or to drain without a deadline."""

    def __init__(self, runtime: Runtime, watchdog_seconds: float) -> None:
        services, capacity = runtime.services, runtime.services.settings.worker_turns
        self._runtime = runtime
        self._grace_seconds = services.settings.grace_seconds
        self._stopping = threading.Event()  # it takes no more turns
        self._ending = threading.Event()  # and ends when it has none
        self._obstacle = ""  # what keeps it from taking turns although it goes on
        self._turns_end_at = math.inf
        self._beaten_at = time.monotonic()
        self._schema = SchemaWatch(services.database, self._meet_newer_schema)
        self._sources = SourceWatch(services.status_redis, runtime.sources.digest)
        self._background = (
            self._schema,
            self._sources,
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
            is_draining=self._ending.is_set,
            obstacle=lambda: self._obstacle,
            sources=lambda: self._sources.digest,
            on_drain=self.drain,
        )
        port, host = services.settings.probe_port, services.settings.host
        self._probes = (Probe(host, port, self.states),) if port else ()
        self._threads = WorkerThreads(runtime, capacity)
        self._watchdog = Watchdog(runtime.loop, lambda: self.silence, watchdog_seconds)

    @property
    def silence(self) -> float:
        """Return for how many seconds the main thread has done nothing. Call it from any thread."""
        return max(time.monotonic() - self._beaten_at - LOOK_SECONDS, 0.0)

    def stop(self) -> None:
        """Take no more turns; running ones may continue for the grace period of the first call.

        Call it from any thread but the main one, which a signal may interrupt anywhere.
        """
        self._take_no_more(ends=True)
        self._turns_end_at = min(self._turns_end_at, time.monotonic() + self._grace_seconds)
        self._watchdog.expect_end(self._grace_seconds + ENDING_SECONDS)
        log.info("Worker %s stops", self._runtime.name)

    def drain(self) -> None:
        """Take no more turns; end when the running ones have ended."""
        self._take_no_more(ends=True)
        log.info("Worker %s drains", self._runtime.name)

    def states(self) -> dict[str, str]:
        """Return what it needs to take turns, each ok or the problem. Call it from any thread."""
        return {
            "worker": self._state,
            "agents": _after(self._runtime.loop.silence, STALLED_SECONDS, "blocked for {:.0f} s"),
            "main": _after(self.silence, STALLED_SECONDS, "blocked for {:.0f} s"),
            "database": _after(self._schema.silence, AWAY_SECONDS, "no answer for {:.0f} s"),
        }

    @property
    def _state(self) -> str:
        if self._turns_end_at < math.inf:
            return "stopping"
        if self._ending.is_set():
            return "draining"
        return self._obstacle or OK

    def _meet_newer_schema(self, found: str) -> None:
        """Take no more turns, but stay: what restarts it would restart this version again."""
        self._obstacle = newer_text(found)
        self._take_no_more(ends=False)
        log.error("Worker %s takes no more turns. %s", self._runtime.name, self._obstacle)

    def run(self) -> None:
        """Work until told to end."""
        runtime = self._runtime
        keepers = (runtime.leases, *self._background, self._presence)
        sandbox = runtime.services.sandbox
        for part in (sandbox, runtime.loop, self._watchdog, *self._probes, *keepers, self._threads):
            part.start()
        capacity = runtime.services.settings.worker_turns
        log.info("Worker %s runs up to %s turns at once", runtime.name, capacity)
        while not self._stopping.wait(LOOK_SECONDS):
            self._beaten_at = time.monotonic()
        self._wait_for_turns()
        self._watchdog.expect_end(ENDING_SECONDS)
        end_leases(runtime, are_left=not self._threads.has_left)
        close_all(self._background)
        runtime.services.sandbox.close()
        runtime.loop.close()
        self._presence.close()

    def _take_no_more(self, *, ends: bool) -> None:
        if ends:
            self._ending.set()
        self._threads.stop()
        self._stopping.set()

    def _wait_for_turns(self) -> None:
        """Wait for running turns: for the grace period once stopped, otherwise indefinitely."""
        while time.monotonic() < self._turns_end_at:
            if self._threads.has_left and self._ending.is_set():
                return
            self._beaten_at = time.monotonic()
            if self._turns_end_at < math.inf and self._runtime.suspects:
                self._runtime.suspects.close()
            time.sleep(LOOK_SECONDS / 5)


def _after(seconds: float, patience: float, problem: str) -> str:
    return problem.format(seconds) if seconds >= patience else OK


def end_leases(runtime: Runtime, *, are_left: bool) -> None:
    """Release the turns still running here, so that others take them over immediately.

    `are_left`: whether threads are still at work; one may just be claiming its turn.
    """
    count = runtime.leases.count
    runtime.leases.close()
    if not are_left:
        return
    log.info("Worker %s hands %s turns over", runtime.name, count)
    try:
        with runtime.services.database.transaction() as session:
            hand_over(session, runtime.name)
    except SQLAlchemyError as error:
        log.warning(
            "Their leases end by themselves: %s",
            str(error).splitlines()[0],
            extra=while_away(DATABASE),
        )
