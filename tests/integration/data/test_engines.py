"""What DuckDB, PostgreSQL, MariaDB and SQLite answer by themselves is what a source answers."""

import sqlite3

import duckdb
import psycopg2
import psycopg2.extras
import pytest
from sqlalchemy import make_url

from backend.data.profile import list_tables
from backend.data.questions import Snapshot, query_snapshots
from backend.data.results import Limits
from tests.engine_questions import EVERYWHERE, ONLY
from tests.engine_tables import TABLES, statements
from tests.integration.data.comparing import ask_database, differences, of
from tests.servers.mariadb import IS_INSTALLED, NOT_INSTALLED, MariaDb

# What Python has no value for, beside how the engine itself writes it.
DUCKDB_ODD = {
    "340282366920938463463374607431768211455::UHUGEINT":
        "340282366920938463463374607431768211455",
    "(-170141183460469231731687303715884105727)::HUGEINT":
        "-170141183460469231731687303715884105727",
    "123456789012345678901234567890123456789012::BIGNUM":
        "123456789012345678901234567890123456789012",
    "'10110'::BIT": "10110",
    "INTERVAL '1 month -3 days 04:05:06.789'": "1 month -3 days 04:05:06.789",
    "INTERVAL (-1) YEAR": "-1 year",
    "'infinity'::TIMESTAMP": "infinity",
    "'-infinity'::DATE": "-infinity",
    "DATE '0044-03-15 (BC)'": "0044-03-15 (BC)",
    "DATE '12000-01-01'": "12000-01-01",
    "TIMESTAMP '12000-01-01 01:02:03'": "12000-01-01T01:02:03",
    "TIMESTAMP_NS '2020-01-01 00:00:00.123456789'": "2020-01-01T00:00:00.123456789",
    "'04:05:06+02'::TIMETZ": "04:05:06+02:00",
    "0.1::FLOAT": 0.1,
    "'nan'::DOUBLE": "nan",
    "'-inf'::FLOAT": "-inf",
    "0::DECIMAL(38,38)": 0.0,
    "[TIMESTAMP 'infinity', NULL]": '["infinity", null]',
    "[INTERVAL 1 DAY]": '["1 day"]',
    "{'h': 170141183460469231731687303715884105727::HUGEINT, 'd': 1.10}":
        '{"h": 170141183460469231731687303715884105727, "d": 1.10}',
    "MAP {'a': 12345678901234567.89}": '{"a": 12345678901234567.89}',
    "['101'::BIT]": '["101"]',
    "['\\xAA'::BLOB]": '["aa"]',
    "'b'::ENUM('a', 'b')": "b",
    "union_value(n := 2)": "2",
    "'{\"a\": 12345678901234567890}'::JSON": '{"a": 12345678901234567890}',
    "'a' || chr(0)": "a\\x00",
}  # fmt: skip
POSTGRES_ODD = {
    "'NaN'::numeric": "NaN",
    "'-Infinity'::float8": "-inf",
    "12345678901234567890123456789012345678901234567890::numeric":
        "12345678901234567890123456789012345678901234567890",
    "'10110'::bit(5)": "10110",
    "interval '1 month -3 days 04:05:06.789'": "1 mon -3 days +04:05:06.789",
    "interval '-1 year'": "-1 years",
    "'infinity'::timestamp": "infinity",
    "'-infinity'::date": "-infinity",
    "'0044-03-15 BC'::date": "0044-03-15 BC",
    "'12000-01-01 00:00+00'::timestamptz": "12000-01-01T00:00:00+00:00",
    "time '24:00:00'": "24:00:00",
    "'04:05:06+02'::timetz": "04:05:06+02:00",
    "'{2020-01-01,infinity}'::date[]": '["2020-01-01", "infinity"]',
    "'{{1,2},{3,NULL}}'::int[]": "[[1, 2], [3, null]]",
    "'{1.10,NaN}'::numeric[]": '[1.10, "NaN"]',
    "'[1,5)'::int4range": "[1,5)",
    "'{[1,2),[4,5)}'::int4multirange": "{[1,2),[4,5)}",
    "'192.168.0.1/24'::inet": "192.168.0.1/24",
    "12.34::money": "$12.34",
    "'{\"a\":12345678901234567890, \"a\":1.10}'::json": '{"a":12345678901234567890, "a":1.10}',
    "'null'::jsonb": "null",
    "'\"x\"'::jsonb": '"x"',
    "'\\xdeadbeef'::bytea": "deadbeef",
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "row(1, 'a')": "(1,a)",
}  # fmt: skip
MARIADB_ODD = {
    "t": ["-838:59:59", "25:00:00"],
    "moment": ["9999-12-31T23:59:59.999999", "0000-00-00T00:00:00"],
    "day": ["0000-00-00", "2026-00-00"],
    "bits": [682, 0],
    "flag": [1, 0],
    "unsigned_": ["18446744073709551615", 0],
    "wide": [1.5, "12345678901234567890123456789012345.123456789012345678901234567890"],
    "y": [2026, 0],
    "e": ["a", "b"],
    "s": ["x,y", ""],
    "raw_": ["00ff", ""],
    "document": ['{"a":12345678901234567890}', "[]"],
    "address": ["::1", None],
}
SQLITE_ODD = {
    "9e999": "inf",
    "9007199254740993": "9007199254740993",
    "x'00ff'": "00ff",
    "CAST(x'4dfc' AS TEXT)": "M\\xfc",
    "'12' + 1": 13,
    "1.0": 1.0,
    "'1.0'": "1.0",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements("duckdb"):
            connection.execute(statement)
    return Snapshot("shop", list_tables("shop", path), path)


@pytest.fixture(scope="module")
def postgres(servers):
    url = make_url(servers.new_database())
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg2.connect(plain) as connection, connection.cursor() as cursor:
        for statement in statements("postgres"):
            cursor.execute(statement)
        cursor.execute('CREATE TABLE "Mixed Case" ("Id" int, "select" int, plain int)')
        cursor.execute('INSERT INTO "Mixed Case" VALUES (7, 8, 9)')
        cursor.execute("CREATE MATERIALIZED VIEW seen AS SELECT count(*) AS n FROM orders")
        cursor.execute('CREATE SCHEMA "Archive" CREATE TABLE "Old" (id int)')
        cursor.execute("COMMENT ON COLUMN orders.note IS 'what was said'")
    return url.render_as_string(hide_password=False), plain


@pytest.fixture(scope="module")
def mariadb():
    if not IS_INSTALLED:
        pytest.skip(NOT_INSTALLED)
    with MariaDb() as running:
        connection = running.connect()
        cursor = connection.cursor()
        cursor.execute("DROP TABLE orders")
        cursor.execute("SET sql_mode = ''")
        cursor.execute("ALTER DATABASE shop CHARACTER SET utf8mb4")
        for statement in statements("mysql"):
            cursor.execute(statement)
        cursor.execute(
            "CREATE TABLE odd (id INT, t TIME(6), moment DATETIME(6), day DATE, bits BIT(10), "
            "flag BIT(1), unsigned_ BIGINT UNSIGNED, wide DECIMAL(65,30), y YEAR, e ENUM('a','b'), "
            "s SET('x','y'), raw_ BLOB, document JSON, address INET6)"
        )
        cursor.execute(
            "INSERT INTO odd VALUES (1, '-838:59:59', '9999-12-31 23:59:59.999999', '0000-00-00', "
            "b'1010101010', 1, 18446744073709551615, 1.5, 2026, 'a', 'x,y', x'00ff', "
            "'{\"a\":12345678901234567890}', '::1'), (2, '25:00:00', '0000-00-00 00:00:00', "
            "'2026-00-00', 0, 0, 0, "
            "12345678901234567890123456789012345.123456789012345678901234567890, 0, 'b', '', '', "
            "'[]', NULL)"
        )
        connection.commit()
        connection.close()
        yield running


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "shop.db"
    with sqlite3.connect(path) as connection:
        for statement in statements("sqlite"):
            connection.execute(statement)
    return path


def test_there_are_two_hundred_questions_over_ten_tables():
    distinct = {*EVERYWHERE, *(question for questions in ONLY.values() for question in questions)}

    assert len(TABLES) == 10
    assert len(distinct) >= 200


def test_a_snapshot_answers_as_duckdb_does(snapshot):
    def ask(sql):
        return query_snapshots(snapshot, (), sql, Limits()).rows

    with duckdb.connect(str(snapshot.path), read_only=True) as connection:
        wrong = differences([*EVERYWHERE, *ONLY["duckdb"]], ask, of(connection))

    assert not wrong, "\n".join(wrong)
    assert {odd: ask(f"SELECT {odd}")[0][0] for odd in DUCKDB_ODD} == DUCKDB_ODD


def test_a_postgresql_answers_as_by_itself(postgres):
    url, plain = postgres
    ask = ask_database(url)

    with psycopg2.connect(plain) as connection:
        connection.autocommit = True
        psycopg2.extras.register_default_json(connection, loads=str)
        psycopg2.extras.register_default_jsonb(connection, loads=str)
        wrong = differences([*EVERYWHERE, *ONLY["postgres"]], ask, of(connection))

    assert not wrong, "\n".join(wrong)
    assert {odd: ask(f"SELECT {odd}")[0][0] for odd in POSTGRES_ODD} == POSTGRES_ODD


def test_a_mariadb_answers_as_by_itself(mariadb):
    ask = ask_database(mariadb.url("mysql+pymysql"))
    connection = mariadb.connect()

    wrong = differences([*EVERYWHERE, *ONLY["mysql"]], ask, of(connection))
    odd = {
        name: [row[0] for row in ask(f"SELECT {name} FROM odd ORDER BY id")] for name in MARIADB_ODD
    }
    connection.close()

    assert not wrong, "\n".join(wrong)
    assert odd == MARIADB_ODD


def test_a_sqlite_answers_as_by_itself(sqlite_file):
    ask = ask_database(f"sqlite:///{sqlite_file}")

    with sqlite3.connect(sqlite_file) as connection:
        wrong = differences([*EVERYWHERE, *ONLY["sqlite"]], ask, of(connection))

    assert not wrong, "\n".join(wrong)
    assert {odd: ask(f"SELECT {odd}")[0][0] for odd in SQLITE_ODD} == SQLITE_ODD
