"""An RQ worker that lives in a thread, so that one process runs many turns at once.

It leans on the inside of rq 2.12: no signal handlers (only the main thread may have them), no
death penalty (a turn limits its own time), a dequeue that wakes each second to see a stop.
"""

import threading
import time
from collections.abc import Callable

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.worker import SimpleWorker
from rq.worker.base import WorkerStatus
from sqlalchemy.exc import SQLAlchemyError

WAKE_SECONDS = 1
HEARTBEAT_SECONDS = 15
WORKER_TTL = 90


class NoDeathPenalty(BaseDeathPenalty):
    """RQ's limit of time, without effect."""

    def setup_death_penalty(self) -> None:
        """Set nothing up."""

    def cancel_death_penalty(self) -> None:
        """Cancel nothing."""


class ThreadWorker(SimpleWorker):
    """One thread of the process: takes a job, runs it, takes the next."""

    death_penalty_class = NoDeathPenalty

    def __init__(self, queue: Queue, name: str, run_waiting_turn: Callable[[], bool]) -> None:
        self._run_waiting_turn = run_waiting_turn
        super().__init__(
            [queue],
            name=name,
            connection=queue.connection,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL,
            log_job_description=False,
        )

    def work_until(self, stopping: threading.Event) -> None:
        """Take jobs until told to stop; when Redis is away, turns are found in the database."""
        while not stopping.is_set():
            self._stop_requested = False
            try:
                self.work(logging_level="WARNING")
            except (RedisError, OSError, ValueError):
                self._work_without_redis(stopping)

    def _work_without_redis(self, stopping: threading.Event) -> None:
        try:
            found = self._run_waiting_turn()
        except SQLAlchemyError:
            found = False
        if not found:
            stopping.wait(WAKE_SECONDS)

    def stop(self) -> None:
        """Take no further job; the one in hand is finished."""
        self._stop_requested = True

    def _set_ip_address(self, connection: Redis) -> None:
        """Ask Redis for no address: a worker starts without Redis, too."""
        self.ip_address = "unknown"

    def _install_signal_handlers(self) -> None:
        """Leave signals to the process's main thread."""

    def subscribe(self) -> None:
        """Listen to no RQ commands: a turn is stopped through the database."""

    def unsubscribe(self) -> None:
        """Nothing was subscribed."""

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a job in short spells, so that a request to stop is seen."""
        while not self._stop_requested:
            spell = WAKE_SECONDS if timeout else max_idle_time
            result = super().dequeue_job_and_maintain_ttl(timeout, spell)
            if result is not None or timeout is None:
                return result
        raise StopRequested

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Leave RQ's loop when Redis is away, which RQ would wait out, for ever if need be."""
        try:
            super().heartbeat(timeout, pipeline)
        except RedisError as error:
            raise StopRequested from error

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run the job in this thread, with RQ's heartbeat beside it."""
        self.prepare_execution(job)
        done = threading.Event()
        beat = threading.Thread(target=self._beat, args=(job, done), daemon=True)
        beat.start()
        try:
            self.perform_job(job, queue)
        finally:
            done.set()
        self.set_state(WorkerStatus.IDLE)

    def _beat(self, job: Job, done: threading.Event) -> None:
        while not done.wait(HEARTBEAT_SECONDS):
            try:
                self.maintain_heartbeats(job)
            except (RedisError, StopRequested):
                time.sleep(WAKE_SECONDS)
