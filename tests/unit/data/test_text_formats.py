"""Numbers of a text keep how they were written: decimals, currency, percent, thousands."""

import duckdb
import pytest

from backend.data.reading.delimited import read_delimited


@pytest.mark.parametrize(
    ("cells", "format_"),
    [
        (["44000.00", "50000.00"], "#,##0.00"),
        (["44000.50", "50000"], "#,##0.00"),
        (["1.5", "2.25"], "#,##0.00"),
        (["52.5200", "13.4050"], "#,##0.0000"),
        (["0.1", "0.1234567"], ""),
        (["2026.0", "2027.0"], ""),
        (["1", "2"], ""),
        (["1.234,50 €", "7,00 €"], "#,##0.00\\ [$€]"),
        (["$5.00", "$1,200.00"], "[$$]#,##0.00"),
        (["12.5%", "7 %"], '#,##0.0"%"'),
        (["1,234,567", "1,000"], "#,##0"),
    ],
)
def test_how_numbers_are_written_is_their_columns_format(tmp_path, cells, format_):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["k;x", *(f"k{n};{cell}" for n, cell in enumerate(cells))]))
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        understood = read_delimited(connection, "t", path)

    assert understood.formats.get("x", "") == format_


@pytest.mark.parametrize(
    "text",
    [
        "time   sku  price\n8:15  A1  1.50\n9:20  B2  2.50\n10:05  C3  3.75\n",
        "time sku   price\n8:15 A1 1.50\n9:20  B2 2.50\n 10:05 C3  3.75\n",
    ],
)
def test_runs_of_spaces_separate_where_all_lines_then_have_the_same_cells(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        understood = read_delimited(connection, "t", path)
        rows = connection.execute("SELECT sku, price FROM t").fetchall()

    assert rows == [("A1", 1.5), ("B2", 2.5), ("C3", 3.75)]
    assert not understood.warnings
    assert "separated by one or more spaces" in understood.form
