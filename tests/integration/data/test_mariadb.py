"""A real MariaDB as a source: held read-only, and free again when nobody waits."""

import asyncio
import gc
import sys
import time
from collections.abc import Iterator

import pytest

from backend.data.aggregate import Sums
from backend.data.engines.databases import Database
from backend.data.errors import DataError, QueryFailed, QueryTimedOut
from backend.data.results import Limits
from backend.data.sources import Sources
from tests.servers.mariadb import IS_INSTALLED, NOT_INSTALLED, MariaDb

pytestmark = pytest.mark.skipif(not IS_INSTALLED, reason=NOT_INSTALLED)

ENDLESS = "SELECT count(*) FROM orders a, orders b, orders c WHERE (a.id + b.id * c.id) % 7 = 3"
PATIENCE = 60.0  # a busy machine takes its time


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDb]:
    with MariaDb() as running:
        yield running


@pytest.fixture
def sources(mariadb, tmp_path, sandbox):
    return Sources(tmp_path, {"shop": mariadb.url()}, sandbox)


async def wait_until(true):
    deadline = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(true):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("kind", ["mysql", "mariadb"])
def test_it_is_read_in_batches_up_to_the_limit_under_both_names(mariadb, kind):
    database = Database(mariadb.url(kind))
    tables = database.read_catalog().tables

    whole = database.query("SELECT id, amount, note FROM orders ORDER BY id", tables, Limits())
    cut = database.query("SELECT a.id FROM orders a, orders b", tables, Limits(rows=10))

    assert [table.name for table in tables] == ["orders"]
    assert whole.rows[2] == [3, 1.5, "100% :x"]
    assert len(whole.rows) == 5000
    assert len(cut.rows) == 10
    assert not cut.complete


def test_the_rest_of_a_cut_result_is_neither_read_nor_missed(mariadb, monkeypatch):
    faults = []
    monkeypatch.setattr(sys, "unraisablehook", faults.append)
    database = Database(mariadb.url())
    tables = database.read_catalog().tables

    database.query("SELECT a.id FROM orders a, orders b", tables, Limits(rows=10))
    gc.collect()

    assert faults == []
    asyncio.run(wait_until(lambda: not mariadb.running()))


def test_its_texts_are_not_summed_as_numbers(sources):
    with pytest.raises(DataError, match=r"'note' of orders cannot be summed: its type is varchar"):
        asyncio.run(sources.query("asker", "shop", Sums("orders", ["id"], "note"), Limits()))


def test_it_refuses_writes_by_itself(mariadb):
    database = Database(mariadb.url())

    with pytest.raises(DataError, match="READ ONLY"), database.open(Limits()) as connection:
        try:
            connection.exec_driver_sql("DELETE FROM orders")
        except Exception as error:
            raise QueryFailed(str(error)) from error


def test_a_query_beyond_its_time_is_ended_by_the_server_too(mariadb, sources):
    with pytest.raises(DataError) as raised:
        asyncio.run(sources.query("asker", "shop", ENDLESS, Limits(seconds=2)))

    assert isinstance(raised.value, QueryTimedOut) or "max_statement_time" in raised.value.detail
    asyncio.run(wait_until(lambda: not mariadb.running()))


def test_a_query_that_is_stopped_runs_no_longer_in_the_server(mariadb, sources):
    async def story():
        task = asyncio.create_task(sources.query("asker", "shop", ENDLESS, Limits(seconds=600)))
        await wait_until(mariadb.running)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until(lambda: not mariadb.running())

    asyncio.run(story())
