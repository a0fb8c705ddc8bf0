"""How a call of Redis is tried again; it says once that Redis is away, and once that it is back."""

import logging
from collections.abc import Callable
from socket import socket
from typing import Any, Self, TypeVar

from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError

from backend.logs.outages import REDIS, away, back

T = TypeVar("T")
log = logging.getLogger(__name__)


class TellingRetry(Retry):
    """All connections of a client share one, through which each of its calls goes."""

    _is_away = False

    def __deepcopy__(self, _: Any) -> Self:
        """Return this very one, where the client would make a copy for each connection."""
        return self

    def call_with_retry(self, do: Callable[[], T], *arguments: Any, **options: Any) -> T:
        """Make a call as `Retry` does, and note whether Redis answers.

        Where no Sentinel knows a master, they are not asked again immediately.
        """
        options.setdefault("is_retryable", _is_retryable)
        try:
            answer = super().call_with_retry(do, *arguments, **options)
        except (ConnectionLost, RedisTimeoutError) as error:
            if not self._is_away:
                self._is_away = True
                log.warning("Redis does not answer: %s", error, extra=away(REDIS))
            raise
        # It also connects through here: an open socket, or one that seems open, is no answer.
        if self._is_away and answer is not None and not isinstance(answer, socket):
            self._is_away = False
            log.warning("Redis answers again", extra=back(REDIS))
        return answer


def _is_retryable(error: Exception) -> bool:
    return not isinstance(error, MasterNotFoundError)
