"""Watches which sources this host has, and says so if other workers have others."""

import logging
from collections.abc import Callable

from redis import Redis
from redis.exceptions import RedisError

from backend.operations.workers import list_workers
from worker.background import Background

LOOK_SECONDS = 30.0
log = logging.getLogger("worker")


class SourceWatch(Background):
    """Finds them in a thread of its own: a shared folder may hang.

    `find` returns a digest of the sources.
    """

    name = "source watch"

    def __init__(
        self, redis: Redis, find: Callable[[], str], seconds: float = LOOK_SECONDS
    ) -> None:
        super().__init__()
        self._redis = redis
        self._find = find
        self._seconds = seconds
        self.digest = ""  # once it is known
        self._differs = self._is_told = False

    def _run(self) -> None:
        self._try(self._look)
        while not self._closing.wait(self._seconds):
            self._try(self._look)

    def _look(self) -> None:
        before, self.digest = self.digest, self._find()
        try:
            found = list_workers(self._redis)
        except RedisError:
            return
        others = [one.name for one in found if one.sources not in ("", self.digest)]
        # A file that has just come is not seen by all at once.
        stays = bool(others) and self._differs and before == self.digest
        if stays and not self._is_told:
            log.warning(
                "This host has other sources than %s: `colloquy doctor` says what to do",
                ", ".join(others),
            )
        self._differs, self._is_told = bool(others), stays
