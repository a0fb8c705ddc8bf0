"""Follows a session and those of its running tasks, so that one page shows several agents."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import UUID

import httpx

from backend.schemas.tasks import PlanList, Task, TaskStatus
from backend.types import JSON
from ui.async_api import CallersApi
from ui.features.chat.live.feed import Feed, SessionGone
from ui.features.chat.live.frames import TaskFrames

MOST_HEARD = 4  # tasks followed at a time, each by its own stream; the plan's picture shows all
MOST_WAITING = 100  # batches of frames for a browser that reads none
log = logging.getLogger(__name__)


class PageFeed:
    """The events of a session and the text that streams in its tasks, as frames."""

    def __init__(self, api: CallersApi, session_id: UUID) -> None:
        self._api = api
        self._own = Feed(api, session_id, self._take)
        self._batches: asyncio.Queue[list[JSON] | None] = asyncio.Queue(MOST_WAITING)
        self._running: dict[UUID, Task] = {}
        self._heard: dict[UUID, asyncio.Task[None]] = {}

    async def frames(self) -> AsyncIterator[list[JSON]]:
        """Yield batches of frames until the session is gone (SessionGone)."""
        own = asyncio.create_task(self._follow())
        try:
            while (batch := await self._batches.get()) is not None:
                yield batch
            own.result()
        finally:
            for each in (own, *self._heard.values()):
                each.cancel()

    async def _follow(self) -> None:
        try:
            async for frames in self._own.frames():
                await self._batches.put(frames)
                if self._own.waits_for_tasks:
                    self._own.waits_for_tasks = False
                    await self._find()
        except Exception:
            await self._batches.put(None)
            raise

    async def _find(self) -> None:
        """Follow the tasks that already run; if they cannot be read, only those reported later."""
        with suppress(httpx.HTTPError):
            for plan in PlanList.read(await self._own.get("tasks")).items:
                for task in plan.tasks:
                    self._take(task)

    def _take(self, task: Task) -> None:
        """Follow a task while it runs, within the limit."""
        if task.session_id is None:
            return
        if task.status is TaskStatus.RUNNING:
            self._running[task.session_id] = task
        else:
            self._running.pop(task.session_id, None)
            if heard := self._heard.pop(task.session_id, None):
                heard.cancel()
        for session_id, running in self._running.items():
            if session_id not in self._heard and len(self._heard) < MOST_HEARD:
                hearing = self._hear(session_id, TaskFrames(running.name))
                self._heard[session_id] = asyncio.create_task(hearing)

    async def _hear(self, session_id: UUID, words: TaskFrames) -> None:
        try:
            async for frames in Feed(self._api, session_id).frames():
                if new := words.apply(frames):
                    await self._batches.put(new)
        except SessionGone:
            pass
        except Exception:
            log.exception("A task's text is not streamed; its plan still shows its status")
        finally:
            with suppress(asyncio.QueueFull):
                self._batches.put_nowait(words.take_back())
