"""Follows a session together with those of its running tasks: several agents speak on one page."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import UUID

import httpx

from backend.schemas.tasks import PlanList, Task, TaskStatus
from backend.types import JSON
from ui.features.chat.live.feed import Feed, SessionGone
from ui.features.chat.live.frames import TaskFrames

MOST_HEARD = 4  # tasks at once, each over a stream of its own; the picture of a plan shows all
MOST_WAITING = 100  # batches of frames for a browser that takes none
log = logging.getLogger(__name__)


class PageFeed:
    """What happens in a session, and what the agents of its tasks say meanwhile, as frames."""

    def __init__(self, http: httpx.AsyncClient, session_id: UUID) -> None:
        self._http = http
        self._own = Feed(http, session_id, self._take)
        self._batches: asyncio.Queue[list[JSON] | None] = asyncio.Queue(MOST_WAITING)
        self._running: dict[UUID, Task] = {}
        self._heard: dict[UUID, asyncio.Task[None]] = {}

    async def frames(self) -> AsyncIterator[list[JSON]]:
        """Give batches of frames until the session is gone (SessionGone)."""
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
        """Hear the tasks that run already; without an answer those that are told of later."""
        with suppress(httpx.HTTPError):
            for plan in PlanList.read(await self._own.get("tasks")).items:
                for task in plan.tasks:
                    self._take(task)

    def _take(self, task: Task) -> None:
        """Hear a task while it runs, if there is room."""
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
            async for frames in Feed(self._http, session_id).frames():
                if told := words.apply(frames):
                    await self._batches.put(told)
        except SessionGone:
            pass
        except Exception:
            log.exception("What a task says is not told; its plan shows how it stands")
        finally:
            with suppress(asyncio.QueueFull):
                self._batches.put_nowait(words.take_back())
