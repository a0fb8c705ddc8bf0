"""Merged cells in the rows of a sheet: their value is repeated, or said to stand once."""

import zipfile
from datetime import date

import duckdb
import openpyxl
import pytest

from backend.data.files.spreadsheets import read_workbook
from tests.patience import ends_within

SALES = [
    ["Region", "Product", "Amount"],
    ["North", "a", 1], [None, "b", 2], [None, "c", 3],
    ["South", "a", 4], [None, "b", 5],
]  # fmt: skip


def sheet(tmp_path, rows, *merged):
    """A workbook of one sheet with these merged cells."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for area in merged:
        book.active.merge_cells(area)
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def read(path):
    """The rows of the sheet, and what is said of them."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        ((name, understood),) = read_workbook(connection, path).items()
        return connection.sql(f'FROM "{name}"').fetchall(), understood.warnings


def test_a_value_merged_over_rows_is_repeated_in_each_and_this_is_said(tmp_path):
    rows, warnings = read(sheet(tmp_path, SALES, "A2:A4", "A5:A6"))

    assert [row[0] for row in rows] == ["North"] * 3 + ["South"] * 2
    assert warnings == [
        "2 merged cells reach over several rows; their value is repeated in each: A2:A4, A5:A6."
    ]


def test_so_it_is_beyond_the_first_rows_and_wherever_the_table_begins(tmp_path):
    rows = [[None, None, None]] * 3 + [[None, "Region", "n"]]
    rows += [[None, "North" if n % 10 == 0 else None, n] for n in range(1_000)]
    areas = [f"B{n}:B{n + 9}" for n in range(5, 1_005, 10)]

    filled, warnings = read(sheet(tmp_path, rows, *areas))

    assert filled == [("North", n) for n in range(1_000)]
    assert warnings[0].startswith("100 merged cells reach")
    assert "B5:B14, B15:B24, B25:B34." in warnings[0]


def test_days_are_repeated_and_keep_their_type(tmp_path):
    rows = [["Task", "Day"], ["a", date(2026, 1, 1)], ["b", None], ["c", date(2026, 1, 2)]]

    filled, _ = read(sheet(tmp_path, rows, "B2:B3"))

    assert [row[1] for row in filled] == [date(2026, 1, 1)] * 2 + [date(2026, 1, 2)]


def test_numbers_are_repeated_in_the_first_columns_only_where_they_are_labels(tmp_path):
    rows = [
        ["Year", "Order", "Item", "Price", "Sum of the order"],
        [2025, 17, "a", 1, 3], [None, None, "b", 2, None],
        [None, 18, "c", 4, 9], [None, None, "d", 5, None],
    ]  # fmt: skip
    merged = ("A2:A5", "B2:B3", "B4:B5", "E2:E3", "E4:E5")

    filled, warnings = read(sheet(tmp_path, rows, *merged))

    assert [row[:2] for row in filled] == [(2025, 17), (2025, 17), (2025, 18), (2025, 18)]
    assert [row[4] for row in filled] == [3, None, 9, None]
    assert warnings[1] == (
        "2 merged cells reach over several rows with a number, which stays in the first of them, "
        "because a sum would count it several times: E2:E3, E4:E5."
    )


def test_a_value_merged_over_columns_stays_in_the_first_and_this_is_said(tmp_path):
    rows = [*SALES[:3], ["for information", None, 8], ["South", "a", 4]]

    filled, warnings = read(sheet(tmp_path, rows, "A4:B4"))

    assert filled[2] == ("for information", None, 8)
    assert warnings == [
        "1 merged cell reaches over several columns; its value is in the first of them: A4:B4."
    ]


def test_titles_headers_totals_and_remarks_may_be_merged_without_a_word(tmp_path):
    rows = [
        ["Sales of 2026", None, None], ["Region", "Product", "Amount"],
        ["North", "a", 1], ["South", "b", 2], ["Total", None, 3], ["Source: SAP", None, None],
    ]  # fmt: skip

    filled, warnings = read(sheet(tmp_path, rows, "A1:C1", "A5:B5", "A6:C6"))

    assert filled == [("North", "a", 1), ("South", "b", 2)]
    assert not [warning for warning in warnings if "merged" in warning]


def test_a_header_of_merged_cells_does_not_reach_into_the_rows(tmp_path):
    rows = [["Region", 2025, None], [None, "Q1", "Q2"], ["n", 1, 2], ["s", 3, 4]]

    filled, warnings = read(sheet(tmp_path, rows, "A1:A2", "B1:C1"))

    assert filled == [("n", 1, 2), ("s", 3, 4)]
    assert not warnings


def test_rows_that_are_merged_as_a_whole_are_one_row(tmp_path):
    rows = [SALES[0], SALES[1], [None, None, None], SALES[4]]

    filled, warnings = read(sheet(tmp_path, rows, "A2:A3", "B2:B3", "C2:C3"))

    assert filled == [("North", "a", 1), ("South", "a", 4)]
    assert not warnings


@pytest.mark.security
@pytest.mark.parametrize(
    "areas",
    [
        [f"A{n}:C1048576" for n in range(1, 100_000)],
        [f"A{n % 2_000 + 2}:A{n % 7 + 2}" for n in range(100_000)],
        ["C9:A1"] * 100_000,
        ["Z9:ZZ99999"] * 100_000,
    ],
    ids=["overlapping", "reversed too", "reversed", "beside the table"],
)
def test_hostile_areas_cost_no_more_than_the_sheet(tmp_path, areas):
    rows = [["Region", "n"], *(["North" if n % 3 else None, n] for n in range(5_000))]
    plain, path = sheet(tmp_path, rows), tmp_path / "hostile.xlsx"
    merged = "".join(f'<mergeCell ref="{area}"/>' for area in areas)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            text = source.read(name)
            if name == "xl/worksheets/sheet1.xml":
                end = f"</sheetData><mergeCells>{merged}</mergeCells>".encode()
                text = text.replace(b"</sheetData>", end)
            target.writestr(name, text)

    with ends_within(10):
        filled, _ = read(path)

    assert len(filled) == 5_000
