"""An RQ worker that runs in a thread, so that one process runs many turns concurrently.

It relies on internals of rq 2.12: no signal handlers (only the main thread may have them), no
death penalty (a turn limits its own time), a dequeue that wakes each second to notice a stop.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any
from uuid import UUID

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError, ResponseError
from rq import Queue
from rq.exceptions import InvalidJobOperation, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import BaseDeathPenalty
from rq.utils import now
from rq.worker import SimpleWorker
from rq.worker.base import WorkerStatus
from sqlalchemy.exc import SQLAlchemyError

from backend.logs.fields import TURN
from backend.turns.process.turn_job import TurnJob, TurnJobs
from backend.turns.run.runner import Runtime, find_waiting_turn, run_turn

WAKE_SECONDS = 1
HEARTBEAT_SECONDS = 30  # RQ considers a worker dead after 90
WORKER_TTL = 90
log = logging.getLogger(__name__)


class NoDeathPenalty(BaseDeathPenalty):
    """RQ's time limit, without effect."""

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
        leave_if_spare: "Callable[[ThreadWorker], None]",
    ) -> None:
        self._runtime = runtime
        self._stopping = stopping
        self._at_work = at_work
        self._leave_if_spare = leave_if_spare
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
        """Take jobs until told to stop; while Redis is down, find turns in the database."""
        while not self._stop_requested:
            try:
                self.work()  # returns when told to stop, or when Redis fails
            except (RedisError, OSError, ValueError):
                log.debug("Worker %s goes on without Redis", self.name)
            if not self._stop_requested:
                self._work_without_redis()

    def leave(self) -> None:
        """Take no further jobs; finish the current one."""
        self._leaves = True

    def beat(self) -> None:
        """Send the current job's heartbeat to Redis when due; call it from any thread."""
        job, now = self._job, time.monotonic()
        if job is None or now - self._beaten_at < HEARTBEAT_SECONDS:
            return
        self._beaten_at = now
        try:
            self.maintain_heartbeats(job)
        except (RedisError, StopRequested, AttributeError):
            return  # Redis is down, or the job has just ended

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
        """Ignore RQ's own request, which comes from signals that threads do not get."""

    def _set_connection(self, connection: Redis) -> Redis:
        """Keep the short timeouts of the process's client: RQ would wait 85 s for any answer."""
        return connection

    def _set_ip_address(self, connection: Redis) -> None:
        """Do not ask Redis for an address: a worker also starts without Redis."""
        self.ip_address = "unknown"

    def _install_signal_handlers(self) -> None:
        """Leave signals to the process's main thread."""

    def bootstrap(self, *_: Any, **__: Any) -> None:
        """Only register: RQ would set up logging again."""
        self.register_birth()  # type: ignore[no-untyped-call]

    def subscribe(self) -> None:
        """Ignore RQ commands: a turn is stopped through the database."""

    def unsubscribe(self) -> None:
        """Do nothing: nothing was subscribed."""

    def check_for_suspension(self, burst: bool) -> None:
        """Ignore suspension, by which a key in Redis could block all turns; workers are drained."""

    def run_maintenance_tasks(self) -> None:
        """Clean RQ's registries, but never fail over foreign entries in them."""
        try:
            super().run_maintenance_tasks()  # type: ignore[no-untyped-call]  # RQ has no types
        except (ArithmeticError, LookupError, TypeError, ValueError, ResponseError) as error:
            self.last_cleaned_at = now()  # type: ignore[assignment]  # RQ says None
            log.warning("RQ's registries are left as they are: %s", type(error).__name__)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a job in short intervals, so that a request to stop is noticed."""
        while not self._stop_requested:
            spell = WAKE_SECONDS if timeout else max_idle_time
            result = super().dequeue_job_and_maintain_ttl(timeout, spell)
            if result is not None or timeout is None:
                return result
            self._leave_if_spare(self)
        raise StopRequested

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Leave RQ's loop when Redis is down, where RQ would keep waiting indefinitely."""
        try:
            if pipeline is not None:
                super().heartbeat(timeout, pipeline)
                return
            with self.connection.pipeline(transaction=False) as own:
                super().heartbeat(timeout, own)
                own.execute()
        except RedisError as error:
            raise StopRequested from error

    def handle_job_success(self, *args: Any, **options: Any) -> None:
        """Let a job end that Redis has forgotten: RQ would record its turn as failed."""
        with suppress(InvalidJobOperation):
            super().handle_job_success(*args, **options)

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run the job in this thread, even if Redis does not store RQ's records of it.

        One that came when the process had just been told to stop is left to other workers.
        """
        if self._stopping.is_set():
            self._runtime.services.queue.give_back(job)
            return
        with self._at_work(self):
            try:
                self.prepare_execution(job)
            except ResponseError as error:
                fields = {TURN: job.args[0]}
                log.warning("Turn %s runs unknown to RQ: %s", job.args[0], error, extra=fields)
                run_turn(self._runtime, UUID(job.args[0]))
                return
            self._beaten_at, self._job = time.monotonic(), job
            try:
                self.perform_job(job, queue)
            finally:
                self._job = None
        self.set_state(WorkerStatus.IDLE)
