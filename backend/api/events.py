"""Server-Sent Events: what a viewer is told, written as the browser reads it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy.exc import SQLAlchemyError

from backend.errors import SessionNotFound
from backend.turns.follow import EventReader, LiveEvent
from backend.turns.viewer import Told, Viewer

log = logging.getLogger(__name__)
KEEP_ALIVE_SECONDS = 10.0
EXAMPLE = (
    "id: 1700000000000-0.3\nevent: text_delta\n"
    'data: {"context": {"session_id": "…", "turn_id": "…"}, "message_id": "…", "text": "Hel"}\n\n'
)
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen; a comment every ten seconds without one.",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}},
    }
}
WITHOUT_REDIS_SECONDS = 1.0
MAX_WAITING = 10_000  # a viewer slower than that is cut off; it resumes from its last event


async def follow(
    viewer: Viewer, reader: EventReader, session_id: UUID, missed: list[Told]
) -> AsyncIterator[bytes]:
    """Write what the viewer missed, then what happens, until the client goes away.

    Events that came between `missed` and the first live one are caught up once listening.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[LiveEvent | None] = asyncio.Queue()

    def listener(event: LiveEvent | None) -> None:
        loop.call_soon_threadsafe(waiting.put_nowait, event)

    stop = reader.listen(session_id, listener)
    try:
        yield b": connected\n\n" + _write(missed)
        yield _write(await asyncio.to_thread(viewer.catch_up))
        while waiting.qsize() < MAX_WAITING:
            yield await _next(viewer, reader, waiting)
    except (SQLAlchemyError, SessionNotFound) as error:
        # The answer has begun, so it can only end; the client resumes from its last event.
        log.info("A follower of %s is cut off: %s", session_id, str(error).splitlines()[0])
    finally:
        stop()


async def _next(
    viewer: Viewer, reader: EventReader, waiting: asyncio.Queue[LiveEvent | None]
) -> bytes:
    """The next events; when none comes, a sign of life and what is stored but was never published.

    Redis may be away, and a worker may die between its last commit and telling of it.
    """
    patience = KEEP_ALIVE_SECONDS if reader.is_connected else WITHOUT_REDIS_SECONDS
    try:
        events = [await asyncio.wait_for(waiting.get(), patience)]
    except TimeoutError:
        return b": keep-alive\n\n" + _write(await asyncio.to_thread(viewer.catch_up))
    while not waiting.empty():
        events.append(waiting.get_nowait())
    if None in events:
        return _write(await asyncio.to_thread(viewer.catch_up)) or b": keep-alive\n\n"
    told = b""
    for event in filter(None, events):
        if viewer.has_gap_before(event):
            return told + _write(await asyncio.to_thread(viewer.catch_up))
        told += _write(viewer.take(event))
    return told


def _write(events: Iterable[Told]) -> bytes:
    return b"".join(
        b"id: %s\nevent: %s\ndata: %s\n\n"
        % (event.id.encode(), event.event.encode(), orjson.dumps(event.data))
        for event in events
    )
