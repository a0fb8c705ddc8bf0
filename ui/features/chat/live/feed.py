"""Follows one session at the API for one browser, and resumes where the stream broke off.

Asynchronous, because it serves a WebSocket: a hundred watching pages need no threads.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from random import uniform
from uuid import UUID

import httpx
from httpx_sse import ServerSentEvent, aconnect_sse
from pydantic import ValidationError

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from backend.schemas.conversations.turns import Turn, TurnPage, WaitsFor
from backend.schemas.events import (
    EVENTS,
    SessionEvent,
    TaskUpdated,
    TextDelta,
    ThinkingDelta,
    read_event,
)
from backend.schemas.tasks import Task
from backend.types import JSON
from ui.async_api import CallersApi
from ui.features.chat.live.frames import SessionFrames

# The server sends a comment every ten seconds; a stream silent for three of them is dead.
STREAM_TIMEOUT = httpx.Timeout(30.0, connect=3.0)
CALL_TIMEOUT = httpx.Timeout(3.0)  # an API that is well answers in a moment
RETRY_SECONDS = (0.2, 0.5, 1.0, 2.0)
JOIN_SECONDS = 0.03  # after a piece of text; pieces that come closer together are joined
TICK_SECONDS = 1.0  # how often the elapsed time is sent
SILENT_SECONDS = 2.0
CHECK_SECONDS = (10.0, 15.0)  # between these, so that pages opened together do not check together
MAX_WAITING = 2_000  # events; if a browser reads none, the API has to wait and disconnects
log = logging.getLogger(__name__)


class SessionGone(Exception):
    """The session does not exist, or the caller has no access to it."""


class Feed:
    """What happens in a session, as frames for a browser.

    `on_task` is called with each task that has changed; `waits_for_tasks`: whether the turn waited
    for tasks at the start.
    """

    def __init__(
        self,
        api: CallersApi,
        session_id: UUID,
        on_task: Callable[[Task], None] = lambda _: None,
    ) -> None:
        self.waits_for_tasks = False
        self._on_task = on_task
        self._api = api
        self._path = f"sessions/{session_id}"
        self._events: asyncio.Queue[SessionEvent | None] = asyncio.Queue(MAX_WAITING)
        self._last_id = ""
        self._told_at = 0.0
        self._is_away = False

    async def frames(self) -> AsyncIterator[list[JSON]]:
        """Yield batches of frames until the session is gone (SessionGone)."""
        active = await self._active_turn()
        self.waits_for_tasks = active is not None and active.waits_for is WaitsFor.TASKS
        view = SessionFrames(active)
        yield [{"kind": "begin", "active": str(active.id) if active else None}, *view.status()]
        reader = asyncio.create_task(self._read())
        check_seconds = uniform(*CHECK_SECONDS)  # noqa: S311  (nothing to guess)
        try:
            heard = checked = time.monotonic()
            while True:
                was_active = view.is_active
                events = await self._take(TICK_SECONDS if was_active else None)
                if reader.done():
                    reader.result()
                if events:
                    self._is_away = False
                view.is_away = self._is_away
                frames = view.apply(events)
                now = time.monotonic()
                heard = now if events else heard
                checked = checked if was_active else now  # of a new turn nothing can be missing
                silent = now - max(heard, checked) > SILENT_SECONDS
                if view.is_active and (silent or now - checked > check_seconds):
                    frames += await self._stored(view)
                    checked = time.monotonic()
                if frames := frames + view.status():
                    yield frames
        finally:
            reader.cancel()

    async def _take(self, seconds: float | None) -> list[SessionEvent]:
        """Wait for an event, and briefly for more after text; None only wakes the wait."""
        try:
            async with asyncio.timeout(seconds):
                taken = [await self._events.get()]
        except TimeoutError:
            return []
        await asyncio.sleep(self._told_at + JOIN_SECONDS - time.monotonic())
        while not self._events.empty():
            taken.append(self._events.get_nowait())
        if any(isinstance(event, TextDelta | ThinkingDelta) for event in taken):
            self._told_at = time.monotonic()
        return [event for event in taken if event is not None]

    async def _read(self) -> None:
        """Read events for as long as the session exists; wake the waiting side at the end."""
        failures = 0
        try:
            while True:
                try:
                    await self._read_stream()
                    failures = 0
                except (httpx.HTTPError, httpx.StreamError, OSError):
                    failures += 1
                    await self._tell_away(True)
                await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
        finally:
            self._wake()

    async def _read_stream(self) -> None:
        # Pages run beside the API: compression would cost both sides time for no gain.
        headers = {"Accept-Encoding": "identity"}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        path = f"{self._path}/events"
        stream = aconnect_sse(
            self._api.streams, "GET", path, headers=headers, timeout=STREAM_TIMEOUT
        )
        async with stream as source:
            if source.response.status_code == httpx.codes.NOT_FOUND:
                raise SessionGone
            source.response.raise_for_status()
            await self._tell_away(False)
            async for written in source.aiter_sse():
                self._last_id = written.id or self._last_id
                event = _event(written)
                if isinstance(event, TaskUpdated):
                    self._on_task(event.task)
                if event is not None:
                    await self._events.put(event)

    async def _tell_away(self, is_away: bool) -> None:
        if is_away is not self._is_away:
            self._is_away = is_away
            await self._events.put(None)

    def _wake(self) -> None:
        if self._events.empty():
            self._events.put_nowait(None)

    async def _active_turn(self) -> Turn | None:
        """Return the turn that runs or is next; None also while the API is unavailable."""
        try:
            return next(iter(await self._turns()), None)
        except httpx.HTTPError:
            self._is_away = True
            return None

    async def _stored(self, view: SessionFrames) -> list[JSON]:
        """Return the frames of stored rows that no event reported: Redis may have lost events."""
        try:
            turns = await self._turns()
            frames = view.store(turns, await self._rows() if turns else [])
        except httpx.HTTPError:
            frames, view.is_away = [], True  # a frozen API keeps its stream open
        else:
            view.is_away = False
        self._is_away = view.is_away
        return frames

    async def _turns(self) -> list[Turn]:
        return TurnPage.read(await self.get("turns")).items

    async def _rows(self) -> list[DisplayMessage]:
        return MessagePage.read(await self.get("messages?branch=active")).items

    async def get(self, what: str) -> bytes:
        """Return the API's response for this session. Raise SessionGone, HTTPError."""
        response = await self._api.calls.get(f"{self._path}/{what}", timeout=CALL_TIMEOUT)
        if response.status_code == httpx.codes.NOT_FOUND:
            raise SessionGone
        return response.raise_for_status().content


def _event(written: ServerSentEvent) -> SessionEvent | None:
    """Return the event; None if these pages do not know it: the server may be newer."""
    if written.event not in EVENTS:
        return None
    try:
        return read_event(written.event, written.data)
    except (ValueError, ValidationError):  # the error quotes the event, which must not be logged
        log.warning("Skipped an event %s that cannot be read", written.event)
        return None
