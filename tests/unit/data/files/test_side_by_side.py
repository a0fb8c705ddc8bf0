"""Tables beside each other on a sheet are tables of their own, or said to be read as one."""

import duckdb
import openpyxl
import pytest

from backend.data.corrections import Corrections
from backend.data.errors import CorrectionRefused
from backend.data.files.spreadsheets import read_workbook

TWO = [
    ["Region", "Sales", None, "Product", "Units"],
    ["North", 10, None, "A", 1],
    ["South", 20, None, "B", 2],
    ["West", 31, None, None, None],
]


def read(tmp_path, rows, corrections=None):
    """The tables of a sheet with these rows, and what is warned of in each."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        tables = read_workbook(connection, tmp_path / "a.xlsx", corrections or Corrections())
        rows = {name: connection.sql(f'FROM "{name}"').fetchall() for name in tables}
        return rows, [understood.warnings for understood in tables.values()]


def test_tables_of_which_one_ends_earlier_are_read_apart(tmp_path):
    tables, warnings = read(tmp_path, TWO)

    assert list(tables.values()) == [
        [("North", 10), ("South", 20), ("West", 31)],
        [("A", 1), ("B", 2)],
    ]
    assert (
        warnings[0]
        == warnings[1]
        == ["The sheet holds 2 tables side by side, which are read apart: columns A:B and D:E."]
    )


def test_so_are_those_that_name_the_same_columns_whatever_stands_above(tmp_path):
    rows = [
        ["2025", None, None, None, "2026", None],
        ["Region", "Sales", None, None, "Region", "Sales"],
        ["North", 10, None, None, "South", 1], ["West", 5, None, None, "North", 2],
    ]  # fmt: skip

    tables, _ = read(tmp_path, rows)

    assert list(tables.values()) == [[("North", 10), ("West", 5)], [("South", 1), ("North", 2)]]


@pytest.mark.parametrize(
    "rows",
    [
        [row for row in TWO if row[3]],
        [["Title", *[None] * 4], *[row for row in TWO if row[3]], ["Source: SAP", *[None] * 4]],
        [*TWO[:2], ["East", 5, None, None, None], TWO[2]],
    ],
    ids=["equal rows", "title and remark", "a gap"],
)
def test_a_margin_within_a_table_is_said(tmp_path, rows):
    tables, warnings = read(tmp_path, rows)

    assert len(tables) == 1
    assert warnings[0][0] == (
        "Columns A:B and D:E have an empty column between them and are read as one table. If they "
        "are several, put each on a sheet of its own."
    )


def test_a_header_or_types_for_one_of_several_are_refused(tmp_path):
    with pytest.raises(CorrectionRefused, match="one table only"):
        read(tmp_path, TWO, Corrections(types={"Sales": "text"}))
