"""Errors, formulas without a value, and hidden rows are said however the XML is written."""

import duckdb
import openpyxl
import pytest

from backend.data.files import spreadsheets
from backend.data.files.spreadsheets import read_workbook
from backend.data.files.unseen import Unseen
from tests.patience import ends_within
from tests.unit.data.test_reading import text_cell, write_workbook

ERRORS = {
    "as usual": '<c r="A2" t="e"><v>#DIV/0!</v></c>',
    "a formula": '<c r="A2" s="1" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    "a shared formula": '<c r="A2" t="e"><f t="shared" si="0"/><v>#DIV/0!</v></c>',
    "a prefix": '<x:c r="A2" t="e"><x:f>1/0</x:f><x:v>#DIV/0!</x:v></x:c>',
    "single quotes": "<c r='A2' t='e'><v>#DIV/0!</v></c>",
    "another order": '<c t="e" r="A2"><v>#DIV/0!</v></c>',
    "blanks": '<c r = "A2"\n t = "e" >\n <f>1/0</f>\n <v>#DIV/0!</v>\n</c>',
}
FORMULAS = {
    "as usual": '<c r="A2"><f>1+1</f></c>',
    "an empty value": '<c r="A2"><f>1+1</f><v></v></c>',
    "no value": '<c r="A2"><f>1+1</f><v/></c>',
    "a prefix": '<x:c r="A2"><x:f>1+1</x:f><x:v/></x:c>',
    "single quotes": "<c r='A2' s='1'><f>1+1</f></c>",
    "small letters": '<c r="a2"><f>1+1</f></c>',
    "blanks": '<c r="A2">\n <f>1+1</f>\n <v />\n</c>',
}
OTHERS = [
    '<c r="A2"><f>1+1</f><v>2</v></c>',
    '<c r="A2" t="str"><f>""</f><v></v></c>',
    "<x:c r='A2' t='str'><x:f>x</x:f><x:v></x:v></x:c>",
    '<c r="A2" t="n"><v>1</v></c>',
    '<col t="e"/><v>1</v>',
]


def warnings_of(tmp_path, rows):
    """What is said of a workbook with these rows below a header."""
    path = tmp_path / "a.xlsx"
    write_workbook(path, [[text_cell("A1", "name"), text_cell("B1", "other")], *rows])
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        (understood,) = read_workbook(connection, path).values()
        return understood.warnings


@pytest.mark.parametrize("cell", ERRORS.values(), ids=ERRORS.keys())
def test_a_cell_with_an_error_is_said_to_be_null(tmp_path, cell):
    warnings = warnings_of(tmp_path, [[cell, text_cell("B2", "x")]])

    assert "1 cell holds an error and is NULL: A2 (#DIV/0!)." in warnings


@pytest.mark.parametrize("cell", FORMULAS.values(), ids=FORMULAS.keys())
def test_a_formula_without_a_stored_value_is_said_to_be_null(tmp_path, cell):
    warnings = warnings_of(tmp_path, [[cell, text_cell("B2", "x")]])

    assert any(w.startswith("1 formula has no stored value and is NULL: A2. ") for w in warnings)


def test_cells_that_do_not_say_their_place_are_counted(tmp_path):
    cells = ['<c t="e"><v>#N/A</v></c>', "<c><f>1+1</f></c>", "<c><v>1</v></c>"]
    warnings = warnings_of(tmp_path, [cells, cells])

    assert "2 cells hold an error and are NULL." in warnings
    assert any(w.startswith("2 formulas have no stored value and are NULL. ") for w in warnings)


def warnings_of_hidden(tmp_path, hide):
    """What is said of a sheet whose rows 2 to 6 hold amounts, some of them hidden."""
    book = openpyxl.Workbook()
    for row in [("region", "amount"), *[(name, 1.5) for name in "abcde"]]:
        book.active.append(row)
    hide(book.active)
    book.save(tmp_path / "hidden.xlsx")
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        (understood,) = read_workbook(connection, tmp_path / "hidden.xlsx").values()
        assert connection.sql("SELECT sum(amount) FROM sheet").fetchall() == [(7.5,)]
        return understood.warnings


def test_hidden_rows_and_columns_are_read_and_said(tmp_path):
    def hide(sheet):
        sheet.row_dimensions[3].hidden = True
        sheet.row_dimensions[99].hidden = True
        sheet.column_dimensions["A"].hidden = True
        sheet.column_dimensions["X"].hidden = True

    assert warnings_of_hidden(tmp_path, hide) == [
        "1 row is hidden in the workbook and read as the others (line 3).",
        "1 column is hidden in the workbook and read as the others (A).",
    ]


def test_rows_that_a_filter_hides_are_read_and_said(tmp_path):
    def hide(sheet):
        sheet.auto_filter.ref = "A1:B6"
        sheet.auto_filter.add_filter_column(0, ["a"])
        for line in (3, 4, 5, 6):
            sheet.row_dimensions[line].hidden = True

    assert warnings_of_hidden(tmp_path, hide) == [
        "4 rows are hidden by a filter and read as the others (line 3, 4, 5, …)."
    ]


def test_a_sheet_that_hides_nothing_says_nothing(tmp_path):
    assert warnings_of_hidden(tmp_path, lambda sheet: None) == []


@pytest.mark.parametrize("xml", OTHERS)
def test_other_cells_are_not_counted(xml):
    unseen = Unseen()
    unseen.add(xml.encode() + b'<c r="B9" t="n"><v>"e"</v></c>')

    assert (unseen.errors, unseen.formulas) == (0, 0)


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_no_cell_is_lost_between_two_blocks(tmp_path, monkeypatch, prefix):
    monkeypatch.setattr(spreadsheets, "_BLOCK", 150)
    rows = [
        [f'<{prefix}c r="A{n}" t="e"><{prefix}v>#N/A</{prefix}v></{prefix}c>',
         text_cell(f"B{n}", "x")]
        for n in range(2, 102)
    ]  # fmt: skip

    assert any(w.startswith("100 cells hold") for w in warnings_of(tmp_path, rows))


@pytest.mark.parametrize(
    "piece",
    [b"<", b"<x", b"<x:c ", b"<c t='e'", b' t="e"', b" t = ", b"<c>", b"<c><f", b"<c><f>", b"<c> ",
     b'<c t="e"><v', b'<c t="e"><f/> ', b"a.", b" ", b" hidden = "],
    ids=repr,
)  # fmt: skip
def test_hostile_pieces_are_scanned_in_time(piece):
    unseen, many = Unseen(), piece * (2_000_000 // len(piece))

    with ends_within(10):
        unseen.add(b"<f 'e' <x:c t='e' " + many)
        unseen.add(b"<c t='e'><f>" + many)
        unseen.add(b"<row hidden" + many)
