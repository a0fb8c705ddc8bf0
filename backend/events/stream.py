"""Live events on Redis Streams: published here, best effort; lasting data is in PostgreSQL."""

import logging
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend.logs.outages import REDIS, while_away
from backend.schemas.events import SessionEvent
from backend.tabular.columns import described
from backend.types import JSON

log = logging.getLogger(__name__)

CHANNEL = "colloquy:live:"
STREAM = "colloquy:events:"
DELETED = "colloquy:deleted:"
KEEP_EVENTS = 20_000
KEEP_SECONDS = 3_600
HANG_PAUSE_SECONDS = 5.0  # longer than the timeout that a caller waited for
PAUSE_SECONDS = 1.0  # after a failure, so that a turn does not wait for Redis with each delta

# One round trip: store the event for late viewers, and publish it to listeners. A worker may
# publish for a deleted session until it notices the deletion: such events are dropped.
_PUBLISH = """
if redis.call('EXISTS', KEYS[3]) == 1 then
  return redis.status_reply('OK')
end
for i = 3, #ARGV do
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', ARGV[i])
  redis.call('PUBLISH', KEYS[2], id .. ' ' .. ARGV[i])
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.status_reply('OK')
"""


class EventStream:
    """The publishing end. A lost event costs an animation, never content; losses are counted."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._publish = redis.register_script(_PUBLISH)
        self.dropped = 0
        self._is_failing = False
        self._pause_until = 0.0
        self._hangs_until = 0.0

    @property
    def hangs(self) -> bool:
        """Return whether Redis has just timed out, so that others should not wait for it now."""
        return time.monotonic() < self._hangs_until

    def publish(self, session_id: UUID, *events: SessionEvent, position: int = 0) -> None:
        """Send the events to the session's viewers, in order.

        `position` is the position of the last stored display message.
        """
        if time.monotonic() < self._pause_until:
            self.missed(events)
            return
        if not events:
            return
        try:
            self._publish(keys=_keys(session_id), args=_arguments(events, position))
        except RedisError as error:
            self.missed(events, error)
        else:
            self._is_failing = False

    def publish_with(
        self, pipeline: Pipeline, session_id: UUID, *events: SessionEvent, position: int = 0
    ) -> None:
        """Add the events to a pipeline; the caller reports failures to `missed`."""
        keys = _keys(session_id)
        # The script itself, not its hash, which a pipeline would have to look up first.
        pipeline.eval(_PUBLISH, len(keys), *keys, *_arguments(events, position))

    def missed(self, events: Sequence[SessionEvent], error: RedisError | None = None) -> None:
        """Count events that did not get through, and pause after an error."""
        self.dropped += len(events)
        if error:
            self._report(error)

    def forget(self, session_id: UUID) -> None:
        """Drop a deleted session's events, including future ones."""
        try:
            self._redis.set(f"{DELETED}{session_id}", 1, ex=KEEP_SECONDS)
            self._redis.delete(f"{STREAM}{session_id}")
        except RedisError as error:
            self._report(error)

    def _report(self, error: RedisError) -> None:
        """Log once, not for each event, that pages do not get live events."""
        if not self._is_failing:
            log.warning("Live events are not delivered: %s", error, extra=while_away(REDIS))
        self._is_failing = True
        self._pause_until = time.monotonic() + PAUSE_SECONDS
        if isinstance(error, RedisTimeoutError):
            self._pause_until = self._hangs_until = time.monotonic() + HANG_PAUSE_SECONDS


def _keys(session_id: UUID) -> list[str]:
    return [f"{part}{session_id}" for part in (STREAM, CHANNEL, DELETED)]


def _arguments(events: Sequence[SessionEvent], position: int) -> list[Any]:
    return [KEEP_EVENTS, KEEP_SECONDS, *(_dump(event, position) for event in events)]


def _dump(event: SessionEvent, position: int) -> bytes:
    """Return the event in its wire form, as JSON."""
    return orjson.dumps({"event": event.event, "position": position, "data": data_of(event)})


def data_of(event: SessionEvent) -> JSON:
    """Return an event's data; the columns of a message's table say how their cells are written."""
    data: JSON = event.model_dump(mode="json")
    if table := data.get("message", {}).get("metadata", {}).get("table"):
        data["message"]["metadata"]["table"] = described(table)
    return data
