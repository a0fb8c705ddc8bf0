"""Errors, and formulas without a value, are said however a workbook's XML is written."""

import duckdb
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
     b'<c t="e"><v', b'<c t="e"><f/> ', b"a.", b" "],
    ids=repr,
)  # fmt: skip
def test_hostile_pieces_are_scanned_in_time(piece):
    unseen, many = Unseen(), piece * (2_000_000 // len(piece))

    with ends_within(10):
        unseen.add(b"<f 'e' <x:c t='e' " + many)
        unseen.add(b"<c t='e'><f>" + many)
