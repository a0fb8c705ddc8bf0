"""Tables in Parquet files: what the engine cannot hold as it is written is said."""

from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.data.files.readers import read_file


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
