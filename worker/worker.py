"""An RQ worker that lives in a thread, so that one process runs many turns at once.

It leans on the inside of rq 2.12: no signal handlers (only the main thread may have them), no
death penalty (a turn limits its own time), a dequeue that wakes each second to see a stop.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError, ResponseError
from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.utils import now
from rq.worker import SimpleWorker
from rq.worker.base import WorkerStatus
from sqlalchemy.exc import SQLAlchemyError

from backend.turns.process.turn_job import TurnJob, TurnJobs
from backend.turns.run.runner import Runtime, find_waiting_turn, run_turn

WAKE_SECONDS = 1
HEARTBEAT_SECONDS = 30  # RQ believes a worker dead after 90
WORKER_TTL = 90
log = logging.getLogger(__name__)


class NoDeathPenalty(BaseDeathPenalty):
    """RQ's limit of time, without effect."""

    def setup_death_penalty(self) -> None:
        """Set nothing up."""

    def cancel_death_penalty(self) -> None:
        """Cancel nothing."""


class ThreadWorker(SimpleWorker):
    """One thread of the process: takes a job, runs it, takes the next."""

    death_penalty_class = NoDeathPenalty

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        stopping: threading.Event,
        at_work: "Callable[[ThreadWorker], AbstractContextManager[None]]",
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._at_work = at_work
        self._leaves = False
        self._job: Job | None = None
        self._beaten_at = 0.0
        queue = runtime.services.queue.rq
        super().__init__(
            [queue],
            name=name,
            connection=queue.connection,
            job_class=TurnJob,
            queue_class=TurnJobs,
            serializer=JSONSerializer,
            worker_ttl=WORKER_TTL,
            log_job_description=False,
        )

    def work_until_told(self) -> None:
        """Take jobs until told to stop; when Redis is away, turns are found in the database."""
        while not self._stop_requested:
            try:
                self.work()  # returns when told to stop, or when it could not go on with Redis
            except (RedisError, OSError, ValueError):
                log.debug("Worker %s goes on without Redis", self.name)
            if not self._stop_requested:
                self._work_without_redis()

    def leave(self) -> None:
        """Take no further job; the one in hand is finished."""
        self._leaves = True

    def beat(self) -> None:
        """Tell Redis, when it is time, that the job in hand is being worked on; for any thread."""
        job, now = self._job, time.monotonic()
        if job is None or now - self._beaten_at < HEARTBEAT_SECONDS:
            return
        self._beaten_at = now
        try:
            self.maintain_heartbeats(job)
        except (RedisError, StopRequested, AttributeError):
            return  # Redis is away, or the job has ended at this moment

    def _work_without_redis(self) -> None:
        try:
            turn_id = find_waiting_turn(self._runtime)
            if turn_id is not None:
                with self._at_work(self):
                    run_turn(self._runtime, turn_id)
                return
        except SQLAlchemyError:
            pass
        self._stopping.wait(WAKE_SECONDS)

    @property
    def _stop_requested(self) -> bool:
        return self._leaves or self._stopping.is_set()

    @_stop_requested.setter
    def _stop_requested(self, wanted: bool) -> None:
        """RQ's own wish comes from signals, which a thread does not get."""

    def _set_connection(self, connection: Redis) -> Redis:
        """Keep the short waits of the process's client: RQ would wait 85 s for any answer."""
        return connection

    def _set_ip_address(self, connection: Redis) -> None:
        """Ask Redis for no address: a worker starts without Redis, too."""
        self.ip_address = "unknown"

    def _install_signal_handlers(self) -> None:
        """Leave signals to the process's main thread."""

    def bootstrap(self, *_: Any, **__: Any) -> None:
        """Register, and no more: RQ would set up logs that the process has set up already."""
        self.register_birth()  # type: ignore[no-untyped-call]

    def subscribe(self) -> None:
        """Listen to no RQ commands: a turn is stopped through the database."""

    def unsubscribe(self) -> None:
        """Nothing was subscribed."""

    def check_for_suspension(self, burst: bool) -> None:
        """Know no suspension: a key in Redis would hold all turns up; workers are drained."""

    def run_maintenance_tasks(self) -> None:
        """Tidy RQ's registries up, but never stop for what somebody has put there."""
        try:
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]  # RQ has no types
        except (ArithmeticError, LookupError, TypeError, ValueError, ResponseError) as error:
            self.last_cleaned_at = now()  # type: ignore[assignment]  # RQ says None
            log.warning("RQ's registries are left as they are: %s", type(error).__name__)

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
            if pipeline is not None:
                super().heartbeat(timeout, pipeline)
                return
            with self.connection.pipeline(transaction=False) as own:
                super().heartbeat(timeout, own)
                own.execute()
        except RedisError as error:
            raise StopRequested from error

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run the job in this thread, also where Redis does not take RQ's notes of it."""
        with self._at_work(self):
            try:
                self.prepare_execution(job)
            except ResponseError as error:
                log.warning("Turn %s runs unknown to RQ: %s", job.args[0], error)
                run_turn(self._runtime, UUID(job.args[0]))
                return
            self._beaten_at, self._job = time.monotonic(), job
            try:
                self.perform_job(job, queue)
            finally:
                self._job = None
        self.set_state(WorkerStatus.IDLE)
