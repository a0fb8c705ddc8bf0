"""Pages that follow a session over the pages' own event route, as browsers do, in one process."""

import asyncio
import gc
import json
import re
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from websockets.asyncio.client import connect

from benchmarks.clients.b10_crowd import PATIENCE

_SENT = re.compile(r"(\d{12,}) ")


@dataclass
class Page:
    """What one page was told: how late each piece came, and how many."""

    late: list[float] = field(default_factory=list)


def follow_pages(pipe: Connection, url: str, pages: int) -> None:
    """So many pages on a route; tells the pipe when all are there, and at last what they heard."""
    gc.disable()  # nothing here is thrown away, and a pause would look like a late piece
    asyncio.run(_follow_all(pipe, url, pages))


async def _follow_all(pipe: Connection, url: str, pages: int) -> None:
    connected = asyncio.Semaphore(0)
    following = [asyncio.create_task(_follow(url, connected)) for _ in range(pages)]
    for _ in range(pages):
        await connected.acquire()
    await asyncio.sleep(1)  # each feed has found its place in the API's stream by then
    pipe.send("connected")
    pipe.send(await asyncio.gather(*following))
    await asyncio.sleep(PATIENCE)  # until this process is ended


async def _follow(url: str, connected: asyncio.Semaphore) -> Page:
    page = Page()
    async with connect(url, compression=None) as socket:
        await socket.recv()
        connected.release()
        async for told in socket:
            came, text = time.monotonic(), str(told)
            page.late += [came - int(sent) / 1e9 for sent in _SENT.findall(text)]
            # Of a row that is stored a page needs no further piece: it may end without the last.
            if any(frame["kind"] == "ended" for frame in json.loads(text)):
                return page
    raise AssertionError("the pages' server ended the route")
