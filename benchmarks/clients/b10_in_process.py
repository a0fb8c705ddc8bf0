"""Fan-out without HTTP: up to each viewer's bytes, in the process that reads Redis."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from multiprocessing.connection import Connection
from uuid import UUID

from backend.api.channels import Channels
from backend.api.events import follow
from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.events.reader import EventReader
from backend.events.stream import STREAM
from backend.settings import Settings
from backend.turns.follow.viewer import Viewer
from benchmarks.clients.b10_crowd import LAST, tell
from benchmarks.peers import b10_peer

THREADS = 8
SETTLE_SECONDS = 1.0


def watch_ours(
    pipe: Connection, database_url: str, redis_url: str, session_id: UUID, viewers: int
) -> None:
    """Watch with the parts of the event route."""
    services = bootstrap(Settings(database_url=database_url, redis_url=redis_url), threads=THREADS)
    reader = EventReader(services.redis)
    reader.start()

    async def watch() -> None:
        channels = Channels(reader, viewers, viewers)
        streams = []
        for _ in range(viewers):
            viewer = Viewer(services.database, reader, LOCAL_USER, session_id)
            viewer.start(None)
            streams.append(follow(viewer, channels, session_id))
        await _consume(pipe, streams)

    gc.disable()
    asyncio.run(watch())


def watch_peer(pipe: Connection, _: str, redis_url: str, session_id: UUID, viewers: int) -> None:
    """Watch with a separate read of the stream for each viewer."""

    async def watch() -> None:
        redis = b10_peer.connect(redis_url)
        key = f"{STREAM}{session_id}"
        await _consume(pipe, [b10_peer.follow(redis, key) for _ in range(viewers)])

    gc.disable()
    asyncio.run(watch())


async def _consume(pipe: Connection, streams: list[AsyncIterator[bytes]]) -> None:
    heard: list[tuple[list[tuple[float, bytes]], asyncio.Event]]
    heard = [([], asyncio.Event()) for _ in streams]
    await asyncio.gather(*(anext(stream) for stream in streams))  # each confirms its place
    tasks = [
        asyncio.create_task(_keep(stream, *kept))
        for stream, kept in zip(streams, heard, strict=True)
    ]
    await asyncio.sleep(SETTLE_SECONDS)
    await tell(pipe, heard)
    for task in tasks:
        task.cancel()


async def _keep(
    stream: AsyncIterator[bytes], chunks: list[tuple[float, bytes]], ended: asyncio.Event
) -> None:
    async for chunk in stream:
        chunks.append((time.monotonic(), chunk))
        if LAST.encode() in chunk:
            ended.set()
