"""A source that stands still, or is made to be expensive, costs its own turn and no other."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy import make_url

from tests.chaos.staging.proxy import Proxies, Proxy, Wire
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, stop
from tests.servers.mariadb import IS_INSTALLED, NOT_INSTALLED, MariaDb
from tests.stack import Servers, Stack

STOP_SECONDS = 10
SLOW = "SELECT count(*) FROM orders a, orders b, orders c WHERE (a.id + b.id * c.id) % 7 = 3"
QUICK = "SELECT count(*) FROM orders"


@pytest.fixture(scope="module")
def wire(servers: Servers) -> Iterator[Proxy]:
    """The wire to a PostgreSQL with a table of 5,000 orders."""
    url = make_url(servers.new_database())
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg2.connect(plain) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE orders AS SELECT n AS id FROM generate_series(1, 5000) n")
    assert url.host and url.port
    with Proxies() as proxies:
        proxy = proxies.open(url.host, url.port)
        proxy.url = url.set(port=proxy.port, drivername="postgresql")  # type: ignore[attr-defined]
        yield proxy


@pytest.fixture(scope="module")
def shop_stack(
    servers: Servers, model: ScriptedModel, wire: Proxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    url = wire.url.render_as_string(hide_password=False)  # type: ignore[attr-defined]
    home = tmp_path_factory.mktemp("shop")
    with make_stack(servers, model, home, SOURCE_URLS=json.dumps({"shop": url})) as stack:
        yield stack


@pytest.fixture(autouse=True)
def open_wire(wire: Proxy) -> Iterator[None]:
    yield
    wire.set_wire(Wire.PASS)


def ask(sql: str) -> str:
    call = {"name": "query_source", "args": {"source": "shop", "sql": sql}}
    return script({"tools": [call]}, {"text": "Done."})


def result_of(stack: Stack, session_id: str) -> str:
    rows, _ = check_views(stack, session_id)
    return next(r["content"]["content"] for r in rows if r["content_type"] == "tool_result")


def wait_for_call(stack: Stack, session_id: str) -> None:
    def has_called() -> bool:
        rows = stack.messages(session_id)
        return any(row["content_type"] == "tool_call" for row in rows)

    stack.wait_for(has_called, "no call is made")


def queries_of(wire: Proxy) -> list[str]:
    """What PostgreSQL works on in this database; asked beside the wire."""
    plain = wire.url.set(port=wire._target[1])  # type: ignore[attr-defined]
    with (
        psycopg2.connect(plain.render_as_string(hide_password=False)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() "
            "AND state = 'active' AND pid <> pg_backend_pid()"
        )
        return [query for (query,) in cursor.fetchall()]


@pytest.mark.parametrize("phase", ["connecting", "running"])
def test_a_database_that_stands_still_holds_up_no_other_turn_and_not_the_stop(
    shop_stack: Stack, wire: Proxy, phase: str
) -> None:
    stack = shop_stack
    if phase == "connecting":
        wire.set_wire(Wire.BLACKHOLE)
    turn = stack.submit(ask(SLOW))
    wait_for_call(stack, turn["session_id"])
    if phase == "running":
        stack.wait_for(lambda: queries_of(wire), "the query does not run")
        wire.set_wire(Wire.BLACKHOLE)

    other = stack.chat(script({"text": "As ever."}))
    stop(stack, turn["turn_id"])
    stopped = stack.finished(turn["turn_id"], STOP_SECONDS)

    assert other["response"] == "As ever."
    assert stopped["status"] == "stopped"
    wire.set_wire(Wire.PASS)
    stack.wait_for(lambda: not queries_of(wire), "PostgreSQL works on")
    fresh = stack.chat(ask(QUICK), turn["session_id"])
    assert fresh["response"] == "Done."
    assert "5000" in str(stack.messages(turn["session_id"]))


def test_a_database_that_does_not_answer_is_a_result_that_the_model_can_read(
    shop_stack: Stack, wire: Proxy
) -> None:
    wire.set_wire(Wire.BLACKHOLE)

    turn = shop_stack.submit(ask(QUICK))
    ended = shop_stack.finished(turn["turn_id"], 90)

    assert ended["status"] == "succeeded"
    assert "Error: " in result_of(shop_stack, turn["session_id"])


def test_a_stopped_query_runs_no_longer_in_postgresql(shop_stack: Stack, wire: Proxy) -> None:
    turn = shop_stack.submit(ask(SLOW))
    shop_stack.wait_for(lambda: queries_of(wire), "the query does not run")

    stop(shop_stack, turn["turn_id"])

    assert shop_stack.finished(turn["turn_id"], STOP_SECONDS)["status"] == "stopped"
    shop_stack.wait_for(lambda: not queries_of(wire), "PostgreSQL works on")


def test_a_query_of_a_worker_that_was_killed_runs_no_longer_in_postgresql(
    shop_stack: Stack, wire: Proxy
) -> None:
    turn = shop_stack.submit(ask(SLOW))
    shop_stack.wait_for(lambda: queries_of(wire), "the query does not run")

    stop_asked = shop_stack.workers[0]
    shop_stack.kill_workers()

    shop_stack.wait_for(lambda: not queries_of(wire), "PostgreSQL works on")
    assert stop_asked.poll() is not None
    shop_stack.start_worker()
    shop_stack.wait_ready()
    stop(shop_stack, turn["turn_id"])


@pytest.mark.skipif(not IS_INSTALLED, reason=NOT_INSTALLED)
def test_an_endless_query_of_mariadb_holds_up_no_other_turn(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with MariaDb() as mariadb:
        urls = json.dumps({"shop": mariadb.url("mysql")})
        with make_stack(servers, model, tmp_path, SOURCE_URLS=urls) as stack:
            turn = stack.submit(ask(SLOW))
            stack.wait_for(mariadb.running, "the query does not run")

            other = stack.chat(script({"text": "As ever."}))
            stop(stack, turn["turn_id"])
            stopped = stack.finished(turn["turn_id"], STOP_SECONDS)

            assert other["response"] == "As ever."
            assert stopped["status"] == "stopped"
            stack.wait_for(lambda: not mariadb.running(), "MariaDB works on")
