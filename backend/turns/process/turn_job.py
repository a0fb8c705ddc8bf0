"""The only job that the queue accepts. Redis content is read as data, never as a name to call.

RQ imports whatever function and callbacks a job names, and posts to the addresses that it gives.
Anyone who can write to Redis could therefore run code in workers, which hold secrets. So a job is
rebuilt from its turn's id alone, and anything else is dropped.
"""

import json
import logging
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

from redis import Redis
from redis.exceptions import ResponseError
from rq import Queue
from rq.exceptions import NoSuchJobError, TimeoutFormatError
from rq.job import Job

QUEUE = "turns"
JOB = "worker.jobs.run_turn"
JOB_TIMEOUT = -1  # the turn enforces its own limit of time
KEEP_FAILED_SECONDS = 3_600
MOST_BYTES = 8_192  # our jobs have about 600
MOST_FIELDS = 40
SHOWN_CHARS = 100
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
JOB_ID = re.compile(f"({UUID})(?:_[0-9a-f]{{8}})?")

# The non-empty fields that RQ writes for our jobs, at their start and while they run.
FIELDS = frozenset(
    (
        *("data", "description", "origin", "status", "timeout", "result_ttl", "failure_ttl"),
        *("created_at", "enqueued_at", "started_at", "ended_at", "last_heartbeat"),
        *("worker_name", "exc_info"),
    )
)

# All fields of a job, or `false` if it is too large to read.
_READ = f"""
local fields, bytes = redis.call('HLEN', KEYS[1]), 0
if fields > {MOST_FIELDS} then return false end
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  bytes = bytes + #name + redis.call('HSTRLEN', KEYS[1], name)
end
if bytes > {MOST_BYTES} then return false end
return redis.call('HGETALL', KEYS[1])
"""
log = logging.getLogger(__name__)


class ForeignJob(NoSuchJobError):
    """This entry in Redis is not a job of Colloquy; it was not run."""


class TurnJob(Job):
    """A job that runs a turn. RQ reads all jobs through this class, also when cleaning up."""

    @classmethod
    def fetch(cls, id: str, connection: Redis | None = None, serializer: Any = None) -> "TurnJob":
        """Read a job. Raise NoSuchJobError, and ForeignJob when it is not one of ours."""
        _turn_of(id.partition(":")[0])  # after a colon, RQ names the execution
        return cast(TurnJob, super().fetch(id, connection, serializer))

    @classmethod
    def fetch_many(
        cls, job_ids: Iterable[str], connection: Redis, serializer: Any = None
    ) -> list[Job | None]:
        """Read several jobs; None for each that does not exist or is not ours."""
        return [cls._fetch_or_none(job_id, connection, serializer) for job_id in job_ids]

    @classmethod
    def _fetch_or_none(cls, job_id: str, connection: Redis, serializer: Any) -> Job | None:
        try:
            return cls.fetch(job_id, connection, serializer)
        except NoSuchJobError:
            return None

    def refresh(self) -> None:
        """Read the job again. Raise NoSuchJobError, ForeignJob."""
        try:
            found: Any = self.connection.eval(_READ, 1, self.key)
        except ResponseError as error:
            raise ForeignJob("it is no hash") from error
        if found is None:
            raise ForeignJob("it is too large")
        if not found:
            raise NoSuchJobError(self.id)
        self.restore(dict(zip(found[::2], found[1::2], strict=True)))

    def restore(self, raw_data: Mapping[bytes, bytes]) -> None:
        """Restore a job from its fields in Redis if they only name its turn. Raise ForeignJob."""
        fields = {name.decode(errors="replace"): value for name, value in raw_data.items()}
        if odd := sorted(name for name, value in fields.items() if value and name not in FIELDS):
            raise ForeignJob(f"it has {_short(', '.join(odd))}")
        turn_id = _turn_of(self.id)
        if _called(fields.get("data", b"")) != [JOB, None, [turn_id], {}]:
            raise ForeignJob("it is not to run the turn of its name")
        try:
            super().restore(raw_data)
        except (ArithmeticError, LookupError, TypeError, ValueError, TimeoutFormatError) as error:
            raise ForeignJob("its fields cannot be read") from error
        self.origin, self.timeout = QUEUE, JOB_TIMEOUT
        self.result_ttl, self.failure_ttl = 0, KEEP_FAILED_SECONDS


class TurnJobs(Queue):
    """A queue that only returns turn jobs and drops everything else in it."""

    job_class = TurnJob

    @classmethod
    def dequeue_any(  # type: ignore[override]  # ours has one queue, and no classes to choose
        cls, queues: Iterable[Queue], timeout: int | None, connection: Redis, **_: Any
    ) -> tuple[Job, Queue] | None:
        """Return the queue's next job and the queue itself; None when there is none.

        Raise DequeueTimeout when none comes within `timeout` seconds.
        """
        (queue,) = queues
        while (taken := cls._take(queue, timeout)) is not None:
            job_id = taken[1].decode(errors="replace")
            try:
                return TurnJob.fetch(job_id, connection, queue.serializer), queue
            except ForeignJob as error:
                log.warning("A job that is not ours is dropped (%s): %s", job_id[:80], error)
                cls._forget(queue, taken[1])
                connection.delete(TurnJob.key_for(job_id))
            except NoSuchJobError:
                cls._forget(queue, taken[1])
        return None

    @classmethod
    def _forget(cls, queue: Queue, entry: Any) -> None:
        queue.connection.lrem(queue.intermediate_queue_key, 1, entry)

    @classmethod
    def _take(cls, queue: Queue, timeout: int | None) -> tuple[str, bytes] | None:
        """Move the next entry to the list of those being taken; delete the key if it is no list."""
        try:
            return cast(tuple[str, bytes] | None, cls.lmove(queue.connection, queue.key, timeout))
        except ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            log.warning("A queue key that is not a list is dropped: %s", error)
            queue.connection.delete(queue.key, queue.intermediate_queue_key)
            return None


def _turn_of(job_id: str) -> str:
    found = JOB_ID.fullmatch(job_id)
    if found is None:
        raise ForeignJob("its name is not that of a turn")
    return found[1]


def _called(data: bytes) -> Any:
    """Return what a job calls as raw data, at most as much as our jobs may hold."""
    unpacker = zlib.decompressobj()
    try:
        return json.loads(unpacker.decompress(data, MOST_BYTES))
    except (zlib.error, ValueError, RecursionError):
        return None


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} …"
