"""Which worker processes are alive: each says so on Redis, again and again."""

import logging
import threading

from redis import Redis
from redis.exceptions import RedisError

PREFIX = "colloquy:worker:"
BEAT_SECONDS = 2.0
TTL_SECONDS = 8
log = logging.getLogger(__name__)


class Presence:
    """One worker process's sign of life; after a FLUSHALL it is back with the next beat."""

    def __init__(self, redis: Redis, name: str) -> None:
        self._redis = redis
        self._key = f"{PREFIX}{name}"
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="presence", daemon=True)

    def start(self) -> None:
        """Begin to say so."""
        self._thread.start()

    def close(self) -> None:
        """Say at once that the worker is gone."""
        self._closing.set()
        self._thread.join(timeout=BEAT_SECONDS)
        try:
            self._redis.delete(self._key)
        except RedisError as error:
            log.info("The worker's sign of life will fade by itself: %s", error)

    def _beat(self) -> None:
        while not self._closing.is_set():
            try:
                self._redis.set(self._key, "1", ex=TTL_SECONDS)
            except RedisError as error:
                log.warning("The worker cannot say that it is alive: %s", error)
            self._closing.wait(BEAT_SECONDS)


def count_workers(redis: Redis) -> int:
    """How many worker processes are alive. Raises redis.exceptions.RedisError."""
    return sum(1 for _ in redis.scan_iter(f"{PREFIX}*", count=1_000))
