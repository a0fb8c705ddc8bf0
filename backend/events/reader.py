"""Following a session: kept events are read first, then one shared reader passes on new ones."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import orjson
from redis import Redis
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError

from backend.events.stream import CHANNEL, STREAM
from backend.logs.outages import REDIS, while_away
from backend.schemas.events import SessionEvent, TurnQueued, read_event

RECONNECT_SECONDS = 0.5
MOST_UNANSWERED = 3  # pings: one a second, once nothing has come for as long as clients wait
BACK_PAGE = 200
log = logging.getLogger(__name__)


class StreamId(NamedTuple):
    """A place in a session's stream, as Redis writes it: milliseconds and a number."""

    milliseconds: int = 0
    serial: int = 0

    @classmethod
    def parse(cls, text: str) -> "StreamId":
        """Parse `1700000000000-3`; a missing part is 0. Raise ValueError."""
        milliseconds, _, serial = text.partition("-")
        if not text.isascii():
            raise ValueError("Redis accepts ASCII digits only")
        return cls(int(milliseconds), int(serial or 0))

    def __str__(self) -> str:
        return f"{self.milliseconds}-{self.serial}"


@dataclass(frozen=True)
class LiveEvent:
    """An event as it was read: its place, its name, and its data in JSON as published."""

    id: StreamId
    event: SessionEvent
    data: bytes


class Listener(Protocol):
    """Receives live events from the reader's thread, and None when some may have been missed."""

    def __call__(self, event: LiveEvent | None) -> None:
        """Take an event without blocking."""


class EventReader:
    """One Redis subscription per process, which serves all viewers of all sessions."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.is_connected = False
        self._thread = threading.Thread(target=self._read, name="events", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def close(self) -> None:
        """Stop the reader."""
        self._closing.set()
        self._thread.join(timeout=3)

    def listen(self, session_id: UUID, listener: Listener) -> Callable[[], None]:
        """Pass the session's live events to the listener until the returned function is called."""
        key = str(session_id)
        with self._lock:
            self._listeners[key].add(listener)

        def stop() -> None:
            with self._lock:
                self._listeners[key].discard(listener)
                if not self._listeners[key]:
                    del self._listeners[key]

        return stop

    def kept(self, session_id: UUID, after: StreamId) -> list[LiveEvent]:
        """Return the events that Redis still keeps after a place; none when it does not answer."""
        try:
            entries: Any = self._redis.xrange(f"{STREAM}{session_id}", min=f"({after}")
        except RedisError as error:
            log.warning("Kept events cannot be read: %s", error, extra=while_away(REDIS))
            return []
        return list(filter(None, (_kept(*entry) for entry in entries)))

    def last_id(self, session_id: UUID) -> StreamId:
        """Return the place of the newest kept event; the very beginning if there is none."""
        try:
            entries: Any = self._redis.xrevrange(f"{STREAM}{session_id}", count=1)
        except RedisError as error:
            log.warning("Kept events cannot be read: %s", error, extra=while_away(REDIS))
            return StreamId()
        return StreamId.parse(entries[0][0].decode()) if entries else StreamId()

    def place_before(self, session_id: UUID, turn_id: UUID) -> StreamId:
        """Return the place before a turn's first event, which says that it was queued.

        It reads from the end, because an active turn is recent and a session's stream is long.
        """
        place, is_found, is_first = StreamId(), False, False
        for live in self._newest_first(session_id):
            if live.event.context.turn_id == turn_id:
                place, is_found = StreamId(), True
                is_first = isinstance(live.event, TurnQueued)
            elif place == StreamId():
                place = live.id
            if is_first and place != StreamId():
                break
        return place if is_found else self.last_id(session_id)

    def _newest_first(self, session_id: UUID) -> Iterator[LiveEvent]:
        redis: Any = self._redis
        newest = "+"
        try:
            while entries := redis.xrevrange(f"{STREAM}{session_id}", newest, count=BACK_PAGE):
                for entry_id, fields in entries:
                    if event := _kept(entry_id, fields):
                        yield event
                newest = f"({entry_id.decode()}"
        except RedisError as error:
            log.warning("Kept events cannot be read: %s", error, extra=while_away(REDIS))

    def _read(self) -> None:
        while not self._closing.is_set():
            try:
                self._subscribe()
            except (RedisError, OSError) as error:
                self.is_connected = False
                log.warning("Live events pause: %s", error, extra=while_away(REDIS))
                self._closing.wait(RECONNECT_SECONDS)

    def _subscribe(self) -> None:
        pubsub: Any = self._redis.pubsub
        with pubsub(ignore_subscribe_messages=True) as subscription:
            subscription.psubscribe(f"{CHANNEL}*")
            self.is_connected = True
            self._tell_all(None)
            while not self._closing.is_set():
                message = subscription.get_message(timeout=1.0)
                # A host that is cut off closes no connection, and the next one may lead elsewhere.
                if subscription.health_check_response_counter > MOST_UNANSWERED:
                    raise ConnectionLost("the server of live events is silent")
                if message is not None:
                    self._hand_out(message["channel"], message["data"])

    def _hand_out(self, channel: bytes, data: bytes) -> None:
        key = channel.decode(errors="replace").removeprefix(CHANNEL)
        listeners = self._snapshot(key)
        if listeners:
            event_id, _, body = data.partition(b" ")
            if event := _event(event_id, body):
                for listener in listeners:
                    listener(event)

    def _tell_all(self, event: LiveEvent | None) -> None:
        for key in list(self._listeners):
            for listener in self._snapshot(key):
                listener(event)

    def _snapshot(self, key: str) -> Iterable[Listener]:
        with self._lock:
            return tuple(self._listeners.get(key, ()))


def _kept(entry_id: bytes, fields: Mapping[bytes, bytes]) -> LiveEvent | None:
    return _event(entry_id, fields.get(b"e", b""))


def _event(entry_id: bytes, body: bytes) -> LiveEvent | None:
    """Return the event as published; None if it is not one, so that later ones are still read."""
    try:
        published = orjson.loads(body)
        data = published["data"]
        event = read_event(published["event"], data)
        return LiveEvent(StreamId.parse(entry_id.decode()), event, orjson.dumps(data))
    except (KeyError, TypeError, ValueError):
        log.warning("An entry that is not an event of Colloquy is skipped")
        return None
