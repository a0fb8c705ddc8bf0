"""An operator's own PostgreSQL: parameters in DATABASE_URL, and poolers in front of it."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import URL, make_url, text

from backend.bootstrap import require_schema
from db.migrate import migrate
from db.schema import UnusableDatabase
from db.session import AWAY, Database
from tests.chaos.staging.proxy import Proxies, Wire
from tests.servers.pooler import Pooler
from tests.stack import Servers

OURS = text(
    "SELECT current_setting('statement_timeout'), current_setting('TimeZone'),"
    " current_setting('idle_in_transaction_session_timeout')"
)


def written(url: URL) -> str:
    return url.render_as_string(hide_password=False)


def through(pooler: Pooler, url: str) -> str:
    return written(make_url(url).set(port=pooler.port))


@pytest.fixture
def address(servers: Servers) -> tuple[str, int]:
    url = make_url(servers.postgres.url)
    assert url.host and url.port
    return url.host, url.port


@pytest.fixture
def session_pooler(address: tuple[str, int]) -> Iterator[Pooler]:
    with Pooler(address, shares=False) as pooler:
        yield pooler


@pytest.fixture
def transaction_pooler(address: tuple[str, int]) -> Iterator[Pooler]:
    with Pooler(address, shares=True) as pooler:
        yield pooler


def test_the_schema_that_is_used_is_the_one_that_was_migrated(servers: Servers) -> None:
    plain = make_url(servers.new_database())
    with closing(Database(written(plain))) as database, database.transaction() as session:
        session.execute(text("CREATE SCHEMA desk"))
    url = written(plain.update_query_dict({"options": "-csearch_path=desk"}))
    migrate(url)

    with closing(Database(url)) as database, database.read() as session:
        assert session.scalar(text("SELECT 'turns'::regclass = 'desk.turns'::regclass"))


def test_parameters_of_the_url_apply_beside_ours(servers: Servers) -> None:
    query = {"application_name": "desk", "options": "-c work_mem=5MB", "keepalives_idle": "20"}
    url = make_url(servers.new_database()).update_query_dict(query)

    with closing(Database(written(url))) as database, database.read() as session:
        assert session.scalar(text("SHOW application_name")) == "desk"
        assert session.scalar(text("SHOW work_mem")) == "5MB"
        assert session.execute(OURS).one() == ("1min", "UTC", "10s")


def test_a_pooler_that_gives_each_client_a_connection_will_do(
    servers: Servers, session_pooler: Pooler
) -> None:
    with closing(Database(through(session_pooler, servers.new_database()))) as database:
        database.check_schema()

        with database.read() as session:
            assert session.execute(OURS).one() == ("1min", "UTC", "10s")


def test_a_pooler_that_shares_connections_is_refused(
    servers: Servers, transaction_pooler: Pooler
) -> None:
    with (
        closing(Database(through(transaction_pooler, servers.new_database()))) as database,
        pytest.raises(UnusableDatabase, match="pool_mode = session"),
    ):
        database.check_schema()


def test_too_few_connections_for_two_processes_are_told(
    servers: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    url = servers.new_database()
    with closing(Database(url)) as database, database.transaction() as session:
        session.execute(text(f'ALTER DATABASE "{make_url(url).database}" CONNECTION LIMIT 12'))

    for kept in (6, 7):
        with closing(Database(url, pool_size=kept)) as database:
            require_schema(database, wait=False)

    (said,) = caplog.messages
    assert "DATABASE_CONNECTIONS=7 is too many: the database accepts 12 connections" in said


def test_another_server_takes_over_from_one_that_is_cut_off(
    servers: Servers, address: tuple[str, int]
) -> None:
    host, port = address
    url = make_url(servers.new_database())
    with Proxies() as proxies:
        first = proxies.open(host, port)
        both = {"host": (f"{host}:{first.port}", f"{host}:{port}")}
        both["target_session_attrs"] = "read-write"
        url = URL.create(url.drivername, url.username, url.password, database=url.database)
        with closing(Database(written(url.update_query_dict(both)))) as database:
            assert port_of(database) == first.port
            first.set_wire(Wire.BLACKHOLE)

            while (found := port_of(database)) is None:
                time.sleep(0.05)
            assert found == port
            with database.engine.connect() as one, database.engine.connect() as other:
                ports = [each.connection.dbapi_connection.info.port for each in (one, other)]  # type: ignore[attr-defined]
            assert ports == [port, port]


def port_of(database: Database) -> int | None:
    """Return where a transaction leads; None while none can be had."""
    try:
        with database.read() as session:
            session.execute(text("SELECT 1"))
            wire: Any = session.connection().connection.dbapi_connection
            return int(wire.info.port)
    except AWAY:
        return None
