"""Readiness is answered in a bounded time, whatever its parts do."""

import asyncio
import threading
from types import SimpleNamespace
from uuid import uuid4

import pytest
from redis.exceptions import ConnectionError as RedisGone

from backend.api.routes.operations import server
from backend.api.routes.operations.server import PartsCheck


class Hanging:
    """A database on a connection that is kept alive and never answered."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.pings = 0

    def ping(self) -> None:
        self.pings += 1
        self.goes_on.wait()

    def find_newer_schema(self) -> None:
        """It is that of this version."""


class Gone:
    """A Redis that is not there."""

    def __getattr__(self, _: str):
        raise RedisGone


def test_a_part_that_hangs_is_named_and_waited_for_once(monkeypatch: pytest.MonkeyPatch):
    # Known since the process has started.
    monkeypatch.setattr(server, "find_installation", lambda _: uuid4())
    database = Hanging()
    services = SimpleNamespace(database=database, status_redis=Gone())

    async def go():
        check = PartsCheck(services, seconds=0.05)
        found = [await check.get(), *await asyncio.gather(check.get(), check.get())]
        pings = database.pings
        database.goes_on.set()
        while (await check.get()).states.database != "ok":
            await asyncio.sleep(0.01)
        return found, pings

    found, pings = asyncio.run(go())
    assert {parts.states.database for parts in found} == {"does not answer within 0.05 seconds"}
    assert {parts.states.redis for parts in found} == {"does not answer (ConnectionError)"}
    assert [parts.missing for parts in found] == [["database", "redis", "worker"]] * 3
    assert pings == 1
