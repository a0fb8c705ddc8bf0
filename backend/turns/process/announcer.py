"""Announcing accepted turns once they are committed: wakes a worker and notifies viewers."""

import logging
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from redis import Redis
from redis.exceptions import RedisError

from backend.events.stream import EventStream
from backend.logs.outages import REDIS, while_away
from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn
from backend.schemas.events import MessageAdded, SessionEvent, TurnQueued
from backend.turns.process.queue import TurnQueue

MOST_WAITING = 256  # beyond this, accepting a turn waits for Redis
MOST_AT_ONCE = 64
SETTLE_SECONDS = 2.0
REST_SECONDS = 0.002  # when many come, more of them share a round trip
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Accepted:
    """A turn as it was stored, with its message's row if the message entered immediately.

    `context` is None for a turn that was accepted and announced before.
    """

    turn: Turn
    context: EventContext | None = None
    shown: DisplayMessage | None = None
    is_next: bool = False


class Announcer:
    """Announces turns in its own thread, so that sending a message does not wait for Redis.

    Turns that arrive during a round trip share the next one. Losing it loses nothing: the sweeper
    finds turns that were not announced, and pages see what is stored.
    """

    def __init__(self, redis: Redis, queue: TurnQueue, events: EventStream) -> None:
        self._redis = redis
        self._queue = queue
        self._events = events
        self._waiting: list[Accepted] = []
        self._came = self._told = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def tell(self, accepted: Iterable[Accepted]) -> None:
        """Announce turns soon; those that were accepted before are skipped."""
        new = [one for one in accepted if one.context]
        if not new:
            return
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="announcer", daemon=True)
                self._thread.start()
            self._changed.wait_for(lambda: len(self._waiting) < MOST_WAITING)
            self._waiting += new
            self._came += len(new)
            self._changed.notify_all()

    def settle(self) -> None:
        """Wait until everything queued so far has been announced, if Redis answers."""
        with self._changed:
            due = self._came
            self._changed.wait_for(lambda: self._told >= due, SETTLE_SECONDS)

    def _work(self) -> None:
        while True:
            batch = self._take()
            try:
                self._announce(batch)
            except Exception:  # the edge: one turn's failure must not end the thread
                log.exception("Turns wait for the sweeper")
            with self._changed:
                self._told += len(batch)
                self._changed.notify_all()
            if len(batch) > 1:
                time.sleep(REST_SECONDS)

    def _take(self) -> list[Accepted]:
        """Wait for a turn, and return it with all others that have arrived."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            self._changed.notify_all()
        return batch

    def _announce(self, batch: list[Accepted]) -> None:
        by_turn = {one.turn.id: _events(one) for one in batch}
        events = [event for of_turn in by_turn.values() for event in of_turn]
        if self._events.hangs:
            self._events.missed(events)
            return
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for one in batch:
                    if one.is_next:
                        self._queue.wake_with(pipeline, one.turn.id)
                    self._events.publish_with(
                        pipeline,
                        one.turn.session_id,
                        *by_turn[one.turn.id],
                        position=one.shown.position if one.shown else 0,
                    )
                pipeline.execute()
        except RedisError as error:
            fields = {**while_away(REDIS), "turns": list(by_turn)}
            log.warning("Turns wait for the sweeper: %s", error, extra=fields)
            self._events.missed(events, error)


def _events(accepted: Accepted) -> list[SessionEvent]:
    context, turn, shown = accepted.context, accepted.turn, accepted.shown
    assert context is not None  # noqa: S101  # only new turns are announced
    events: list[SessionEvent] = [TurnQueued(context=context, turn=turn)]
    if shown:
        events.append(MessageAdded(context=context, message=shown))
    return events
