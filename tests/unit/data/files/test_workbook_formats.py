"""Number formats of a workbook's cells: codes keep their zeros, amounts currency and decimals."""

from pathlib import Path
from tempfile import mkdtemp

import duckdb
import openpyxl
import pytest

from backend.data.errors import QueryFailed
from backend.data.files.readers import fill_snapshot
from backend.data.profile import list_tables
from backend.data.questions import Snapshot, query_snapshots
from backend.data.results import Limits


@pytest.fixture
def ask(tmp_path):
    """A function that writes a sheet of values with formats, and queries it."""

    def answer(columns, sql="SELECT * FROM sheet"):
        sheet = (book := openpyxl.Workbook()).active
        sheet.title = "Sheet"
        for place, (name, cells) in enumerate(columns.items(), 1):
            sheet.cell(1, place, name)
            for line, (value, code) in enumerate(cells, 2):
                sheet.cell(line, place, value).number_format = code
        book.save(tmp_path / "a.xlsx")
        snapshot = Path(mkdtemp(dir=tmp_path)) / "s.duckdb"
        fill_snapshot(snapshot, "s", tmp_path / "a.xlsx", tmp_path)
        (table,) = tables = list_tables("s", snapshot)
        return query_snapshots(Snapshot("s", tables, snapshot), [], sql, Limits()), table

    return answer


LABELS = [("a", "General"), ("b", "General"), ("c", "General")]


def cells(code, *values):
    return [(value, code) for value in values]


@pytest.mark.parametrize(
    ("code", "values", "texts"),
    [
        ("00000", (1067, 80331, 99), ["01067", "80331", "00099"]),
        ("00000", (10115, 80331, 20095), ["10115", "80331", "20095"]),
        ("000-00-0000", (12345678, 987654321, 1), ["012-34-5678", "987-65-4321", "000-00-0001"]),
        ("00000\\-0000", (10670001, 1, 2), ["01067-0001", "00000-0001", "00000-0002"]),
    ],
)
def test_cells_that_a_format_shows_as_codes_are_text_with_their_zeros(ask, code, values, texts):
    found, table = ask({"name": LABELS, "code": cells(code, *values)})

    assert [row[1] for row in found.rows] == texts
    assert found.columns[1].type == "VARCHAR"
    assert "codes" in table.columns[1].comment


@pytest.mark.parametrize(
    ("codes", "format_", "note"),
    [
        (("0.00%",) * 3, "0.00%", "percent: 0.07 is 7 %"),
        (("#,##0.00 [$€-407]",) * 3, "#,##0.00\\ [$€]", "in €"),
        (('"$"#,##0',) * 3, "[$$]#,##0", "in $"),
        (("[$-409]#,##0.0",) * 3, "#,##0.0", ""),
        (('_("$"* #,##0.00_);_("$"* (#,##0.00)',) * 3, "[$$]#,##0.00", "in $"),
        (("#,##0.00", "General", "#,##0.00"), "#,##0.00", ""),
        (('"$"#,##0.00', "#,##0.00", "#,##0.00"), "[$$]#,##0.00", "in $"),
        (("0.0", "0.00", "0"), "0.00", ""),
        (("General",) * 3, "", ""),
    ],
)
def test_a_columns_format_is_kept_and_said(ask, codes, format_, note):
    x = list(zip((1200, 50, 44000), codes, strict=True))

    found, table = ask({"name": LABELS, "x": x}, "SELECT x, SUM(x) OVER () FROM sheet")

    assert [column.format for column in found.columns] == [format_, format_]
    assert found.rows[0] == [1200, 45250]
    assert table.columns[1].comment == note


def test_figures_of_an_unformatted_cell_are_not_rounded_by_its_neighbours(ask):
    found, _ = ask({"name": LABELS, "x": [(1.25, "General"), (3, "0"), (4, "0")]})

    assert found.columns[1].format == ""


def test_amounts_of_several_currencies_are_never_added_up(ask):
    x = [(100, "[$€-2] #,##0"), (-100.5, '"$"#,##0.00'), (7, "General")]

    found, table = ask({"name": LABELS, "x": x})
    assert [row[1] for row in found.rows] == ["€ 100", "$ -100.5", "7"]
    assert table.warnings == ("x: stays text, not numbers: more than one currency: $, €.",)
    with pytest.raises(QueryFailed):
        ask({"name": LABELS, "x": x}, "SELECT SUM(x) FROM sheet")


def test_percent_among_other_numbers_is_said(ask):
    found, table = ask({"name": LABELS, "x": [(1000, "#,##0"), (0.074, "0.0%"), (5, "0")]})

    assert found.columns[1].format == ""
    assert table.warnings == ("x: 1 of 3 numbers are percent (0.07 is 7 %), the others are not.",)


def test_a_sheet_that_begins_elsewhere_has_its_formats(tmp_path):
    sheet = (book := openpyxl.Workbook()).active
    for line, row in enumerate([("name", "zip"), ("a", 1067), ("b", 99)], 5):
        for place, value in enumerate(row, 3):
            sheet.cell(line, place, value).number_format = "00000"
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "s").mkdir()

    fill_snapshot(tmp_path / "s" / "s.duckdb", "s", tmp_path / "a.xlsx", tmp_path)

    with duckdb.connect(str(tmp_path / "s" / "s.duckdb")) as connection:
        assert connection.sql("FROM Sheet").fetchall() == [("a", "01067"), ("b", "00099")]
