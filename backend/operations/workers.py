"""Which worker processes are alive, their load, and which are draining."""

import logging
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

from pydantic import ValidationError
from redis import Redis
from redis.exceptions import RedisError

from backend.logs.outages import REDIS, while_away
from backend.schemas.operations.work import WorkerInfo

PREFIX = "colloquy:worker:"
DRAIN = "colloquy:drain:"
BEAT_SECONDS = 2.0
TTL_SECONDS = 8
DRAIN_SECONDS = 86_400
MOST_WORKERS = 1_000
MOST_BYTES = 4_096  # a worker's entry has about 200
log = logging.getLogger(__name__)


class Presence:
    """One worker process's heartbeat; after a FLUSHALL it reappears with the next beat.

    `count_turns` returns how many turns the process has, `count_dropped` how many live events Redis
    did not accept, `loop_silence` for how many seconds its agents' loop has not run, `is_draining`
    whether it takes no more turns and ends, `obstacle` why it takes none otherwise, and `sources` a
    digest of its host's sources.
    `on_drain` is called once, when the worker has been asked to drain.
    """

    def __init__(
        self,
        redis: Redis,
        name: str,
        capacity: int,
        count_turns: Callable[[], int],
        count_dropped: Callable[[], int],
        loop_silence: Callable[[], float],
        is_draining: Callable[[], bool],
        obstacle: Callable[[], str],
        sources: Callable[[], str],
        on_drain: Callable[[], None],
    ) -> None:
        self._redis = redis
        self._name = name
        self._capacity = capacity
        self._count_turns = count_turns
        self._count_dropped = count_dropped
        self._loop_silence = loop_silence
        self._is_draining = is_draining
        self._obstacle = obstacle
        self._sources = sources
        self._is_asked = False
        self._on_drain = on_drain
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="presence", daemon=True)

    def start(self) -> None:
        """Start the heartbeat."""
        self._thread.start()

    def close(self) -> None:
        """Stop, and report immediately that the worker is gone."""
        self._closing.set()
        self._thread.join(timeout=BEAT_SECONDS)
        try:
            self._redis.delete(f"{PREFIX}{self._name}")
        except RedisError as error:
            log.info("The worker's heartbeat will fade by itself: %s", error)

    def _beat(self) -> None:
        while not self._closing.is_set():
            try:
                self._tell()
            except RedisError as error:
                log.warning(
                    "The worker cannot say that it is alive: %s", error, extra=while_away(REDIS)
                )
            self._closing.wait(BEAT_SECONDS)

    def _tell(self) -> None:
        if not self._is_asked and is_asked_to_drain(self._redis, self._name):
            self._is_asked = True
            self._on_drain()
        info = WorkerInfo(
            name=self._name,
            turns=self._count_turns(),
            capacity=self._capacity,
            is_draining=self._is_draining(),
            obstacle=self._obstacle(),
            sources=self._sources(),
            events_dropped=self._count_dropped(),
            loop_silence_seconds=round(self._loop_silence(), 1),
        )
        self._redis.set(f"{PREFIX}{self._name}", info.model_dump_json(), ex=TTL_SECONDS)


def list_workers(redis: Redis) -> list[WorkerInfo]:
    """Return the worker processes alive. Raise redis.exceptions.RedisError."""
    keys = list(islice(redis.scan_iter(f"{PREFIX}*", count=1_000), MOST_WORKERS))
    with redis.pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.getrange(key, 0, MOST_BYTES)
        values = pipeline.execute(raise_on_error=False)
    workers = filter(None, map(_read, keys, values))
    return sorted(workers, key=lambda worker: worker.name)


def count_workers(redis: Redis) -> int:
    """Return how many worker processes are alive. Raise redis.exceptions.RedisError."""
    return len(list_workers(redis))


def _read(key: bytes, value: Any) -> WorkerInfo | None:
    """Return the worker of a key; None if the key is gone or holds something else."""
    try:
        worker = WorkerInfo.read(value)
    except ValidationError:
        return None
    return worker if key.decode(errors="replace") == f"{PREFIX}{worker.name}" else None


def ask_to_drain(redis: Redis, name: str) -> None:
    """Ask a worker to accept no more turns, and to exit when its turns have ended."""
    redis.set(f"{DRAIN}{name}", "1", ex=DRAIN_SECONDS)


def is_asked_to_drain(redis: Redis, name: str) -> bool:
    """Return whether a worker has been asked to drain. Raise redis.exceptions.RedisError."""
    return bool(redis.exists(f"{DRAIN}{name}"))
