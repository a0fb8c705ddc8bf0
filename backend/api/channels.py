"""Fan-out: each event of a session is serialised once for all viewers at the same place."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from backend.auth.scope import Scope
from backend.errors.base import TooManyStreams
from backend.events.reader import EventReader, LiveEvent
from backend.turns.follow.viewer import Viewer, ViewerEvent, ViewerPosition

KEEP_ALIVE = b": keep-alive\n\n"
KEEP_ALIVE_SECONDS = 10.0
WITHOUT_REDIS_SECONDS = 1.0
# Writing to many viewers takes a while. Events that arrive in that time are written together, so
# that many viewers cost at most about a third of the loop; a few get each event immediately.
PAUSE_SECONDS_PER_VIEWER = 50e-6
MAX_WAITING = 10_000  # events; a viewer that falls further behind is cut off and can resume


class Channels:
    """The channels of a process by session; all of them belong to its one event loop."""

    def __init__(self, reader: EventReader, most_of_person: int, most: int) -> None:
        self._reader = reader
        self._by_session: dict[UUID, Channel] = {}
        self._most_of_person, self._most = most_of_person, most
        self._by_person: Counter[str] = Counter()
        self._is_closed = False

    def close(self) -> None:
        """End all streams, and each that begins from now on: this process is about to end."""
        self._is_closed = True
        for channel in self._by_session.values():
            for subscription in channel.subscriptions:
                subscription.cut_off()

    @property
    def count(self) -> int:
        """Return how many viewers there are now."""
        return self._by_person.total()

    @contextmanager
    def admit(self, scope: Scope) -> Iterator[None]:
        """Count a viewer of this person while the context lasts. Raise TooManyStreams."""
        if self._by_person[scope.user_id] >= self._most_of_person or self.count >= self._most:
            raise TooManyStreams
        self._by_person[scope.user_id] += 1
        try:
            yield
        finally:
            self._by_person[scope.user_id] -= 1

    @contextmanager
    def subscription(self, session_id: UUID) -> Iterator["Subscription"]:
        """Subscribe one viewer to everything that happens in the session from now on."""
        channel = self._by_session.get(session_id)
        if channel is None:
            channel = self._by_session[session_id] = Channel(self._reader, session_id)
        subscription = Subscription()
        if self._is_closed:
            subscription.cut_off()
        channel.subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            channel.subscriptions.discard(subscription)
            if not channel.subscriptions and self._by_session.get(session_id) is channel:
                del self._by_session[session_id]
                channel.close()


class Channel:
    """The viewers of one session in this process."""

    def __init__(self, reader: EventReader, session_id: UUID) -> None:
        self.subscriptions: set[Subscription] = set()
        self._reader = reader
        self._loop = asyncio.get_running_loop()
        self._arrived: list[LiveEvent | None] = []
        self._pause: asyncio.TimerHandle | None = None
        self._heard_at = self._loop.time()
        self._watch = self._loop.call_later(WITHOUT_REDIS_SECONDS, self._look_for_silence)
        self._stop_listening = reader.listen(session_id, self._hear)

    def close(self) -> None:
        """Stop listening."""
        self._stop_listening()
        self._watch.cancel()
        if self._pause:
            self._pause.cancel()

    def _hear(self, event: LiveEvent | None) -> None:
        self._loop.call_soon_threadsafe(self._take, event)

    def _take(self, event: LiveEvent | None) -> None:
        """Deliver the event now, or with others when the pause ends."""
        self._arrived.append(event)
        if self._pause is None:
            self._hand_out()

    def _hand_out(self) -> None:
        self._pause = None
        if self._arrived:
            arrived, self._arrived = self._arrived, []
            self._tell(EventBatch(arrived))
            pause = len(self.subscriptions) * PAUSE_SECONDS_PER_VIEWER
            self._pause = self._loop.call_later(pause, self._hand_out)

    def _tell(self, batch: "EventBatch") -> None:
        self._heard_at = self._loop.time()
        for subscription in self.subscriptions:
            subscription.put(batch)

    def _look_for_silence(self) -> None:
        """Send an empty batch when no events arrive: a heartbeat, and a check of stored rows.

        Redis may be down, and a worker may die between its last commit and publishing it.
        """
        patience = KEEP_ALIVE_SECONDS if self._reader.is_connected else WITHOUT_REDIS_SECONDS
        if self._loop.time() - self._heard_at >= patience:
            self._tell(EventBatch(()))
        self._watch = self._loop.call_later(WITHOUT_REDIS_SECONDS, self._look_for_silence)


class Subscription:
    """The unread batches of one viewer; they are shared, so a slow viewer costs little."""

    def __init__(self) -> None:
        self.is_cut_off = False
        self._waiting: list[EventBatch] = []
        self._behind = 0
        self._wake = asyncio.Event()

    def put(self, batch: "EventBatch") -> None:
        """Add a batch; a viewer that is too far behind is cut off."""
        self._behind += len(batch.events)
        if self._behind > MAX_WAITING:
            self.cut_off()
        elif batch.events or not self._waiting:
            self._waiting.append(batch)
        self._wake.set()

    def cut_off(self) -> None:
        """End the stream without the rest; its client may resume it."""
        self.is_cut_off = True
        self._waiting.clear()
        self._wake.set()

    def wake(self) -> None:
        """Have `take` return, also with nothing."""
        self._wake.set()

    async def take(self) -> "list[EventBatch]":
        """Wait until there are batches, and take all of them."""
        await self._wake.wait()
        self._wake.clear()
        taken, self._waiting, self._behind = self._waiting, [], 0
        return taken


class EventBatch:
    """Events that arrived together, or none, and their text for viewers at the same place.

    A None among the events marks where some may have been missed.
    """

    def __init__(self, events: Sequence[LiveEvent | None]) -> None:
        self.events = events
        self._written: dict[ViewerPosition, tuple[bytes, ViewerPosition, bool]] = {}
        self._caught_up: dict[
            tuple[Scope, ViewerPosition], asyncio.Task[tuple[bytes, ViewerPosition]]
        ] = {}

    async def tell(self, viewer: Viewer) -> bytes:
        """Bring the viewer up to this batch; return the bytes to send to it."""
        before = viewer.seen
        if before not in self._written:
            self._written[before] = self._write_events(viewer)
        written, viewer.seen, is_complete = self._written[before]
        if is_complete:
            return written
        return written + (await self._catch_up(viewer) or KEEP_ALIVE)

    def _write_events(self, viewer: Viewer) -> tuple[bytes, ViewerPosition, bool]:
        """Return the events before the first gap, if any; an empty batch may hide events too."""
        events: list[ViewerEvent] = []
        for event in self.events:
            if event is None or viewer.has_gap_before(event):
                return write(events), viewer.seen, False
            events += viewer.take(event)
        return write(events), viewer.seen, bool(self.events)

    async def _catch_up(self, viewer: Viewer) -> bytes:
        key = viewer.scope, viewer.seen
        if key not in self._caught_up:
            self._caught_up[key] = asyncio.create_task(catch_up(viewer))
        # The task is shared: one viewer that disconnects must not cancel it for the others.
        written, viewer.seen = await asyncio.shield(self._caught_up[key])
        return written


async def catch_up(viewer: Viewer) -> tuple[bytes, ViewerPosition]:
    """Return what is kept or stored after the viewer's cursor, and what it has seen by then."""
    written = await asyncio.to_thread(lambda: write(viewer.catch_up()))
    return written, viewer.seen


def write(events: Iterable[ViewerEvent]) -> bytes:
    """Return the events as Server-Sent Events."""
    return b"".join(
        b"id: %s\nevent: %s\ndata: %s\n\n"
        % (str(one.cursor).encode(), one.event.event.encode(), one.data)
        for one in events
    )
