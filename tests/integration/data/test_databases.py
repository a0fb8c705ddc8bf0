"""Databases by SQLAlchemy URL: SQLite and a real PostgreSQL, held read-only by themselves."""

import asyncio
import sqlite3
import time

import psycopg2
import pytest
from sqlalchemy import make_url

from backend.data.aggregate import Sums
from backend.data.engines import databases
from backend.data.engines.databases import Database
from backend.data.errors import DataError, QueryFailed, SourceUnusable
from backend.data.results import Limits
from backend.data.sources import Sources


def ask(url, sql, limits=None):
    database = Database(url)
    tables = database.read_catalog().tables
    return database.query(sql, tables, limits or Limits())


@pytest.fixture
def without_guard(monkeypatch):
    """The database alone: as if the parser had let everything through."""

    monkeypatch.setattr(databases, "check_query", lambda sql, _: sql)
    monkeypatch.setattr(databases, "verbatim", lambda sql, *_: sql)


@pytest.fixture
def sqlite_file(tmp_path):
    path = tmp_path / "shop 1.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, amount REAL)")
        connection.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 2.5), (2, None)])
    return path


@pytest.fixture(scope="module")
def postgres(servers):
    url = make_url(servers.new_database())
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg2.connect(plain) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE orders (id int, amount numeric(12,2), note text)")
        cursor.execute("INSERT INTO orders SELECT n, n, '100% :x' FROM generate_series(1, 5000) n")
        cursor.execute("CREATE SCHEMA archive CREATE TABLE orders (id int)")
        cursor.execute("CREATE TYPE address AS (street text, city text)")
        cursor.execute("CREATE TABLE people (id int, home address)")
        cursor.execute("INSERT INTO people VALUES (1, ('High St', 'Leeds'))")
        cursor.execute("CREATE FUNCTION wipe(orders) RETURNS int LANGUAGE sql AS 'SELECT 1'")
        cursor.execute("CREATE FUNCTION reveal(int) RETURNS int LANGUAGE sql AS 'SELECT 2'")
        cursor.execute("CREATE TABLE visits (day date, seen timestamptz, clock timestamp)")
        cursor.execute(
            "INSERT INTO visits VALUES ('2026-01-31', '2026-01-31 23:30-05', '2026-01-31 23:30')"
        )
        cursor.execute(f"ALTER DATABASE \"{url.database}\" SET timezone = 'America/New_York'")
    return url.render_as_string(hide_password=False)


def test_sqlite_is_read(sqlite_file):
    table = ask(f"sqlite:///{sqlite_file}", "SELECT id, amount FROM orders ORDER BY id")

    assert table.rows == [[1, 2.5], [2, None]]
    assert [column.type for column in table.columns] == ["INTEGER", "DOUBLE"]


def test_a_day_of_postgresql_is_a_day_and_an_instant_is_in_utc_whatever_its_own_zone(postgres):
    sql = "SELECT *, to_char(seen, 'YYYY-MM') AS month FROM visits"

    table = ask(postgres, sql)

    assert [column.type for column in table.columns] == [
        "DATE", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP", "VARCHAR"
    ]  # fmt: skip
    assert table.rows == [
        ["2026-01-31", "2026-02-01T04:30:00+00:00", "2026-01-31T23:30:00", "2026-02"]
    ]


@pytest.mark.parametrize(
    "escape",
    [
        "DELETE FROM orders",
        "DROP TABLE orders",
        "ATTACH DATABASE '/tmp/evil.db' AS evil",
        "PRAGMA query_only = OFF",
        "SELECT load_extension('evil')",
        "CREATE TEMP TABLE x (a)",
        "SELECT * FROM pragma_database_list",
    ],
)
def test_sqlite_itself_refuses_all_but_reading(sqlite_file, without_guard, escape):
    before = sqlite_file.read_bytes()

    with pytest.raises(DataError):
        ask(f"sqlite:///{sqlite_file}", escape)

    assert sqlite_file.read_bytes() == before


def test_postgresql_is_read_in_batches_up_to_the_limit(postgres):
    table = ask(
        postgres,
        "SELECT id, amount, note FROM orders WHERE note LIKE '100% :x' ORDER BY id",
        Limits(rows=10),
    )

    assert table.rows[0] == [1, 1.0, "100% :x"]
    assert len(table.rows) == 10
    assert not table.complete
    assert ask(postgres, "SELECT count(*) FROM archive.orders").rows == [[0]]


@pytest.mark.parametrize(
    "escape",
    [
        "DELETE FROM orders",
        "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x",
        "CREATE TABLE evil (a int)",
        "SELECT set_config('transaction_read_only', 'off', false)",
    ],
)
def test_postgresql_itself_refuses_writes(postgres, without_guard, escape):
    with pytest.raises(DataError):
        ask(postgres, escape)

    assert ask(postgres, "SELECT count(*) FROM orders").rows == [[5000]]


# Each is a query that PostgreSQL answers, and that does more than read tables and compute.
ESCAPES = [
    "SELECT * FROM pg_shadow",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT 1; SELECT 2",
    "SELECT ('/etc/passwd'::text).pg_read_file",
    "SELECT o.wipe FROM orders o",
    "SELECT public.orders.wipe FROM orders",
    "SELECT (o).WIPE, (o.*).wipe FROM orders o",
    "SELECT (id).reveal FROM orders",
    'SELECT (id)."reveal" FROM orders',
    'SELECT (id).U&"reve\\0061l" FROM orders',
    "SELECT 1 FROM orders o ORDER BY o.wipe",
    "SELECT n.reveal FROM generate_series(1, 2) n",
    "SELECT generate_series.reveal FROM generate_series(1, 2), (SELECT 1 AS reveal) x",
    "SELECT generate_series.reveal FROM generate_series(1, 2), "
    "(SELECT (SELECT y.reveal FROM (SELECT 1 AS reveal) y)) AS z",
    "SELECT 1 FROM orders o WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS wipe) o, (SELECT o.wipe) x)",
    "SELECT o.wipe FROM (SELECT 1 AS wipe) o UNION SELECT o.wipe FROM orders o",
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_what_postgresql_would_allow_is_refused(postgres, escape):
    with pytest.raises(DataError):
        ask(postgres, escape)


def test_columns_and_fields_are_read_although_functions_have_their_names(postgres):
    questions = [
        "SELECT o.wipe FROM (SELECT 1 AS wipe) o",
        "WITH o(reveal) AS (SELECT 1), p AS (SELECT * FROM o) SELECT p.reveal FROM p",
        "SELECT x.reveal FROM orders CROSS JOIN LATERAL (SELECT id AS reveal) x ORDER BY 1 LIMIT 1",
        "SELECT (p.home).street FROM people p",
        "SELECT (array_agg(o ORDER BY o.id))[1].note FROM orders o",
        "SELECT date '2025-01-01' + generate_series(0, 1) ORDER BY 1",
    ]

    answers = [ask(postgres, question).rows[0][0] for question in questions]

    assert answers == [1, 1, 1, "High St", "100% :x", "2025-01-01"]


def test_postgresql_stops_a_statement_beyond_the_limit_by_itself(postgres, without_guard):
    began = time.monotonic()

    with pytest.raises(QueryFailed, match="timeout"):
        ask(postgres, "SELECT pg_sleep(30)", Limits(seconds=0.3))

    assert time.monotonic() - began < 20


def test_a_wrong_column_is_answered_with_the_right_one(postgres):
    with pytest.raises(QueryFailed, match=r"Did you mean 'amount'\?"):
        ask(postgres, "SELECT amout FROM orders")


def test_databases_that_cannot_be_held_read_only_are_refused_with_a_sentence():
    with pytest.raises(SourceUnusable, match="no way to open mssql read-only"):
        Database("mssql+pyodbc://u:p@host/db")


def test_an_unreachable_database_is_listed_with_its_error_and_no_password(tmp_path, sandbox):
    urls = {"down": "postgresql://u:hunter2@127.0.0.1:1/x", "odd": "nonsense"}
    sources = Sources(tmp_path, urls, sandbox)

    infos = {info.name: info for info in asyncio.run(sources.list_all("asker"))}

    assert infos["down"].error
    assert infos["odd"].error
    assert "hunter2" not in repr(infos)


def test_a_database_and_a_file_can_be_compared_by_sums(sqlite_file, tmp_path, sandbox):
    sources = Sources(tmp_path, {"Shop DB": f"sqlite:///{sqlite_file}"}, sandbox)
    sums = Sums("orders", ["ID"], "amount", {"id": [1, 2]})

    table = asyncio.run(sources.query("asker", "shop_db", sums, Limits()))

    assert table.rows == [[1, 2.5], [2, None]]


NAMES = [
    ('SELECT * FROM "Mixed Case"', None),
    ('SELECT "Id", "select", plain FROM "Mixed Case"', None),
    ('SELECT n FROM seen', None),
    ('SELECT id FROM "Archive"."Old"', None),
    ("SELECT id FROM public.orders LIMIT 1", None),
    ("SELECT Id FROM \"Mixed Case\"", 'Write it as "Id", with these quotes'),
    ('SELECT m.Id FROM "Mixed Case" m', 'Write it as "Id"'),
    ("SELECT * FROM Archive.Old", 'Write it as "Archive"."Old", with these quotes'),
    ("SELECT * FROM archive.nothing", "There is no table 'archive.nothing'. Did you mean"),
]  # fmt: skip


def test_names_are_told_as_they_must_be_written_and_wrong_ones_say_how(postgres, tmp_path, sandbox):
    plain = make_url(postgres).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg2.connect(plain) as connection, connection.cursor() as cursor:
        cursor.execute('CREATE TABLE "Mixed Case" ("Id" int, "select" int, plain int)')
        cursor.execute("CREATE MATERIALIZED VIEW seen AS SELECT count(*) AS n FROM orders")
        cursor.execute('CREATE SCHEMA "Archive" CREATE TABLE "Old" (id int)')
        cursor.execute("COMMENT ON COLUMN orders.note IS 'what was said'")
    sources = Sources(tmp_path, {"shop": postgres}, sandbox)
    tables = Database(postgres).read_catalog().tables

    info = asyncio.run(sources.describe("asker", "shop", '"Archive"."Old"'))
    refused = {}
    for sql, hint in NAMES:
        try:
            ask(postgres, sql)
        except DataError as error:
            refused[sql] = error.detail
        assert (hint is None) == (sql not in refused)

    assert [table.name for table in info.tables] == ["Archive.Old"]
    assert {"Mixed Case", "orders", "seen", "archive.orders"} <= {table.name for table in tables}
    assert [c.comment for t in tables if t.name == "orders" for c in t.columns][
        -1
    ] == "what was said"
    assert [refused[sql] for sql, hint in NAMES if hint and hint not in refused[sql]] == []
