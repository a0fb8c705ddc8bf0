"""Work that stops at once."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from backend.data.errors import QueryStopped, QueryTimedOut
from backend.data.interrupt import Interrupt, run_stoppable
from backend.data.local import run_query
from backend.data.results import Limits

ENDLESS = (
    "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c "
    "WHERE (a.range + b.range * c.range) % 7 = 3"
)


@pytest.fixture
def executor():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def snapshot(tmp_path):
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    return path


def test_a_query_beyond_its_time_is_stopped(executor, snapshot):
    def work(interrupt):
        return run_query("s", {"s": snapshot}, ENDLESS, Limits(), interrupt)

    async def story():
        began = time.monotonic()
        with pytest.raises(QueryTimedOut):
            await run_stoppable(executor, work, 0.3, Interrupt())
        return time.monotonic() - began

    assert asyncio.run(story()) < 1


def test_cancelling_the_task_ends_the_query_and_its_thread(executor, snapshot):
    ended = []

    def work(interrupt):
        try:
            return run_query("s", {"s": snapshot}, ENDLESS, Limits(), interrupt)
        except QueryStopped:
            ended.append(time.monotonic())
            raise

    async def story():
        task = asyncio.create_task(run_stoppable(executor, work, 30, Interrupt()))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stopped = time.monotonic() - began
        while not ended:
            await asyncio.sleep(0.01)
        return stopped, ended[0] - began

    stopped, thread_ended = asyncio.run(story())

    assert stopped < 0.1
    assert thread_ended < 1


def test_work_that_was_stopped_before_it_began_does_not_begin():
    interrupt = Interrupt()
    interrupt.fire()

    with pytest.raises(QueryStopped), interrupt.covers(lambda: None):
        pytest.fail("it began")
