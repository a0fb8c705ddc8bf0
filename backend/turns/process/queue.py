"""Waking workers: RQ carries only a name and an id; the queue of record is the turns table."""

import logging
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq.exceptions import DuplicateJobError, InvalidJobOperation
from rq.job import Job
from rq.serializers import JSONSerializer

from backend.logs.fields import TURN
from backend.logs.outages import REDIS, while_away
from backend.turns.process.turn_job import JOB, JOB_TIMEOUT, KEEP_FAILED_SECONDS, QUEUE, TurnJobs

UUID_CHARS = 36  # a job's id begins with that of its turn
log = logging.getLogger(__name__)


class TurnQueue:
    """The one queue; ids only, as JSON."""

    def __init__(self, redis: Redis) -> None:
        self.rq = TurnJobs(QUEUE, connection=redis, serializer=JSONSerializer)

    def has_backlog(self) -> bool:
        """Return whether jobs wait for a free worker thread."""
        try:
            return bool(self.rq.count)
        except RedisError:
            return True

    def requeue(self, turn_id: UUID) -> bool:
        """Enqueue a turn again, at the end, after its job was used for another turn."""
        try:
            self.rq.enqueue_job(self._job(turn_id, f"{turn_id}_{uuid4().hex[:8]}"))
        except RedisError as error:
            return self._give_up(turn_id, error)
        return True

    def give_back(self, job: Job) -> bool:
        """Let another worker take a job that was taken from the queue and not begun."""
        try:
            with self.rq.connection.pipeline() as pipeline:
                pipeline.lrem(self.rq.intermediate_queue_key, 1, job.id)
                pipeline.lpush(self.rq.key, job.id)
                pipeline.execute()
        except RedisError as error:
            return self._give_up(UUID(job.args[0]), error)
        return True

    def wake_with(self, pipeline: Pipeline, turn_id: UUID) -> None:
        """Add the job of a turn that has none yet to a pipeline."""
        self.rq.enqueue_job(self._job(turn_id, str(turn_id)), pipeline=pipeline)

    def wake(self, turn_id: UUID) -> bool:
        """Enqueue a job for the turn; return False when Redis does not answer.

        Nothing is lost then: the sweeper tries again. A second job for a turn is harmless, because
        only one claim succeeds.
        """
        try:
            self.rq.enqueue_job(self._job(turn_id, str(turn_id)), unique=True)
        except DuplicateJobError:
            return self.wake_again([turn_id])
        except (RedisError, InvalidJobOperation) as error:
            return self._give_up(turn_id, error)
        return True

    def wake_again(self, turn_ids: Sequence[UUID]) -> bool:
        """Enqueue turns again, unless their earlier jobs still wait in the queue.

        A job's own status does not count: a worker may have been killed just after taking it. So
        the new job has another id. Return False when Redis does not answer.
        """
        if not turn_ids:
            return True
        try:
            entries: Any = self.rq.connection.lrange(self.rq.key, 0, -1)
            waiting = {entry[:UUID_CHARS].decode(errors="replace") for entry in entries}
            with self.rq.connection.pipeline(transaction=False) as pipeline:
                for turn_id in turn_ids:
                    if str(turn_id) not in waiting:
                        job = self._job(turn_id, f"{turn_id}_{uuid4().hex[:8]}")
                        self.rq.enqueue_job(job, pipeline=pipeline)
                pipeline.execute()
        except RedisError as error:
            return self._give_up(turn_ids[0], error)
        return True

    def _job(self, turn_id: UUID, job_id: str) -> Job:
        return self.rq.create_job(
            JOB,
            args=(str(turn_id),),
            job_id=job_id,
            timeout=JOB_TIMEOUT,
            result_ttl=0,
            failure_ttl=KEEP_FAILED_SECONDS,
            description=f"turn {turn_id}",
        )

    def _give_up(self, turn_id: UUID, error: Exception) -> bool:
        fields = {**while_away(REDIS), TURN: turn_id}
        log.warning("Turn %s waits for the sweeper: %s", turn_id, error, extra=fields)
        return False
