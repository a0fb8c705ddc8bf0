"""A worker says once that its host has other sources than another's."""

import logging
import threading

import pytest
from redis import Redis

from backend.operations.workers import PREFIX
from backend.schemas.operations.work import WorkerInfo
from tests.stack import Servers
from worker.source_watch import SourceWatch

NAME = "elsewhere.7.abcdef"


@pytest.mark.parametrize(("there", "warnings"), [("other", 1), ("same", 0), ("", 0)])
def test_what_differs_for_a_while_is_said_once(
    servers: Servers, caplog: pytest.LogCaptureFixture, there: str, warnings: int
) -> None:
    info = WorkerInfo(name=NAME, turns=0, capacity=1, is_draining=False, sources=there)
    looks, enough = [], threading.Event()

    def find() -> str:
        looks.append(1)
        if len(looks) > 5:
            enough.set()
        return "same"

    with Redis.from_url(servers.new_redis()) as redis, caplog.at_level(logging.WARNING):
        redis.set(f"{PREFIX}{NAME}", info.model_dump_json())
        watch = SourceWatch(redis, find, seconds=0.01)
        watch.start()
        assert enough.wait(30)
        watch.ask_to_end()
        watch.wait_for_end(30)

    said = [record.getMessage() for record in caplog.records]
    assert len([one for one in said if f"other sources than {NAME}" in one]) == warnings
    assert watch.digest == "same"
