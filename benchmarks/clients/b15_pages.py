"""Clients that follow a session over the pages' relay, as browsers do, in one process."""

import asyncio
import gc
import json
import re
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from websockets.asyncio.client import connect

from backend.types import JSON
from benchmarks.clients.b10_crowd import PATIENCE

_SENT = re.compile(r"(\d{12,}) ")


@dataclass
class Page:
    """The delay of each piece that one page received."""

    late: list[float] = field(default_factory=list)


def follow_pages(pipe: Connection, url: str, session: str, pages: int) -> None:
    """Open `pages` clients of the relay; report to the pipe when they are open, then the result."""
    gc.disable()  # nothing here needs collecting, and a pause would look like a late piece
    asyncio.run(_follow_all(pipe, url, session, pages))


async def _follow_all(pipe: Connection, url: str, session: str, pages: int) -> None:
    connected = asyncio.Semaphore(0)
    following = [asyncio.create_task(_follow(url, session, connected)) for _ in range(pages)]
    for _ in range(pages):
        await connected.acquire()
    pipe.send("connected")
    pipe.send(await asyncio.gather(*following))
    await asyncio.sleep(PATIENCE)  # until this process is terminated


async def _follow(url: str, session: str, connected: asyncio.Semaphore) -> Page:
    page = Page()
    async with connect(url, compression=None, max_size=None) as socket:
        await socket.send(json.dumps({"follow": session, "after": None}))
        await socket.recv()  # that the API's stream is open
        connected.release()
        async for told in socket:
            came = time.monotonic()
            for one in json.loads(told):
                page.late += [came - int(sent) / 1e9 for sent in _SENT.findall(_piece(one))]
                if isinstance(one, dict) and one.get("event") == "turn_finished":
                    return page
    raise AssertionError("the pages' server ended the connection")


def _piece(told: JSON | list[Any]) -> str:
    """Return the text that streams in what a page is told: see `ui.relay.route`."""
    if isinstance(told, list):
        return str(told[1])
    return str(told["data"]["text"]) if told.get("event") == "text_delta" else ""
