"""Sums by keys for a comparison: only numbers are summed, whatever an engine makes of texts."""

import sqlite3

import pytest

from backend.data.aggregate import Sums, sum_by_keys
from backend.data.errors import QueryFailed
from backend.data.questions import query_database, reflect_database
from backend.data.results import Limits
from backend.data.tables import ColumnInfo, TableInfo

ROWS = [
    ("a", "1,234.50", "1.234,50", "99.10", b"7", 5),
    ("b", "99.10", 5, " 5e1 ", 2, 2.5),
    ("c", "n/a", "12 EUR", None, 1, None),
]


@pytest.fixture
def sums_of(tmp_path):
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE s (k TEXT, amount TEXT, a2 NUMERIC, plain TEXT, raw, n INT)"
        )
        connection.executemany("INSERT INTO s VALUES (?, ?, ?, ?, ?, ?)", ROWS)
    url = f"sqlite:///{path}"

    def sums_of(measure, **filters):
        catalog, _ = reflect_database(url)
        return query_database(
            "s", url, catalog.tables, Sums("s", ["k"], measure, filters), Limits()
        )

    return sums_of


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("amount", "in 2 rows, for example '1,234.50'"),
        ("a2", "in 2 rows, for example '1.234,50'"),
        ("raw", "in 1 row, for example '37'"),
    ],
)
def test_sqlite_sums_no_texts_that_only_begin_like_numbers(sums_of, measure, said):
    with pytest.raises(QueryFailed, match=f"'{measure}' of s cannot be summed") as raised:
        sums_of(measure)

    assert said in raised.value.detail
    assert "query_source" in raised.value.detail


def test_sqlite_sums_numbers_and_texts_that_are_plain_numbers(sums_of):
    assert sums_of("n").rows == [["a", 5], ["b", 2.5], ["c", None]]
    assert sums_of("plain").rows == [["a", 99.1], ["b", 50.0], ["c", None]]
    assert sums_of("amount", k="b").rows == [["b", 99.1]]


@pytest.mark.parametrize("dialect", ["mysql", "postgres", "duckdb", "oracle"])
@pytest.mark.parametrize("kind", ["varchar(20)", "TEXT", "character varying", "enum('1')", "date"])
def test_columns_of_texts_and_days_are_not_summed(dialect, kind):
    table = TableInfo("s", (ColumnInfo("k", "int"), ColumnInfo("Amount", kind)))

    with pytest.raises(QueryFailed, match="'Amount' of s cannot be summed: its type is"):
        sum_by_keys("x", table, Sums("s", ["k"], "amount"), dialect)


@pytest.mark.parametrize("kind", ["decimal(12,2)", "double precision", "year(4)", "bit(1)", "own"])
def test_columns_of_other_types_are_summed_by_their_engine(kind):
    table = TableInfo("s", (ColumnInfo("k", "int"), ColumnInfo("amount", kind)))

    assert "SUM(" in sum_by_keys("x", table, Sums("s", ["k"], "amount"), "mysql")
