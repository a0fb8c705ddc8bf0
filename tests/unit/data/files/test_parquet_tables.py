"""Tables in Parquet files: what the engine cannot hold as it is written is said."""

from datetime import time
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.data.files.formats import Format
from backend.data.files.readers import read_file
from backend.data.profile import list_tables, profile_tables
from tests.unit.data.files.uploading import fill


@pytest.mark.parametrize(("digits", "said"), [(38, False), (39, True), (60, True)])
def test_decimals_of_more_digits_than_the_engine_has_are_said(tmp_path, digits, said):
    place = tmp_path / "wide.parquet"
    kind = pa.decimal128(digits, 2) if digits <= 38 else pa.decimal256(digits, 2)
    pq.write_table(pa.table({"amount": pa.array([Decimal("1.25"), None], kind)}), place)

    with duckdb.connect() as connection:
        understood = read_file(connection, "t", place)["t"]
        rows = connection.sql("FROM t").fetchall()

    assert [row[0] is None or float(row[0]) for row in rows] == [1.25, True]
    assert ["amount" in warning for warning in understood.warnings] == [True] * said


def test_times_with_nanoseconds_are_described_as_others_are(tmp_path):
    opens = pa.array([time(8, 30), time(9), None], pa.time64("ns"))
    pq.write_table(pa.table({"shop": ["a", "b", "c"], "opens": opens}), tmp_path / "written")
    fill(tmp_path, (tmp_path / "written").read_bytes(), {}, Format.PARQUET, "a.parquet")
    snapshot = tmp_path / "snapshot.duckdb"

    (table,) = profile_tables("shops", snapshot, list_tables("shops", snapshot))

    assert [column.values for column in table.columns] == [
        "a, b, c",
        "08:30:00, 09:00:00; 33 % empty",
    ]


def test_columns_that_cannot_keep_their_names_are_said(tmp_path):
    place = tmp_path / "alike.parquet"
    columns = [pa.array([1]), pa.array([2]), pa.array([3]), pa.array([4])]
    pq.write_table(pa.Table.from_arrays(columns, names=["a", "a", "A", "b"]), place)

    with duckdb.connect() as connection:
        understood = read_file(connection, "t", place)["t"]
        first, *renamed, last = connection.sql("FROM t").columns

    assert (first, last) == ("a", "b")
    assert [warning.partition(":")[0] for warning in understood.warnings] == renamed
