"""Clients that follow a session over the pages' event route, as browsers do, in one process."""

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
    """The delay of each piece that one page received."""

    late: list[float] = field(default_factory=list)


def follow_pages(pipe: Connection, url: str, pages: int) -> None:
    """Open `pages` clients of a route; report to the pipe when they are open, then the result."""
    gc.disable()  # nothing here needs collecting, and a pause would look like a late piece
    asyncio.run(_follow_all(pipe, url, pages))


async def _follow_all(pipe: Connection, url: str, pages: int) -> None:
    connected = asyncio.Semaphore(0)
    following = [asyncio.create_task(_follow(url, connected)) for _ in range(pages)]
    for _ in range(pages):
        await connected.acquire()
    await asyncio.sleep(1)  # by then each feed has found its place in the API's stream
    pipe.send("connected")
    pipe.send(await asyncio.gather(*following))
    await asyncio.sleep(PATIENCE)  # until this process is terminated


async def _follow(url: str, connected: asyncio.Semaphore) -> Page:
    page = Page()
    async with connect(url, compression=None) as socket:
        await socket.recv()
        connected.release()
        async for told in socket:
            came, text = time.monotonic(), str(told)
            page.late += [came - int(sent) / 1e9 for sent in _SENT.findall(text)]
            # A page needs no more pieces of a stored row, so it may end without the last one.
            if any(frame["kind"] == "ended" for frame in json.loads(text)):
                return page
    raise AssertionError("the pages' server ended the route")
