"""Tables as CSV and workbooks, what their columns hold, and those in an answer's Markdown."""

import csv
import io

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.markdown.tables import find_tables
from backend.tabular.cells import cell_writers
from backend.tabular.columns import Kind, kind_of
from backend.tabular.csv_text import csv_of
from backend.tabular.workbook import MAX_CELL_CHARS, workbook_of, write_workbook


@pytest.mark.parametrize(
    ("name", "type_name", "kind"),
    [
        ("amount_group", "DECIMAL(18,2)", Kind.MONEY),
        ("actualAmount", "DOUBLE", Kind.MONEY),
        ("Budget EUR", "BIGINT", Kind.MONEY),
        ("price", "MONEY", Kind.MONEY),
        ("x", "money", Kind.MONEY),
        ("cost_centre", "BIGINT", Kind.NUMBER),
        ("total_rows", "BIGINT", Kind.NUMBER),
        ("budget_pct", "DOUBLE", Kind.NUMBER),
        ("fiscal_year", "INTEGER", Kind.NUMBER),
        ("amount", "VARCHAR", Kind.TEXT),
        ("budget_time", "INTERVAL", Kind.TEXT),
        ("posting_date", "DATE", Kind.DATE),
        ("entered", "TIMESTAMP WITH TIME ZONE", Kind.MOMENT),
        ("entered", "datetime", Kind.MOMENT),
        ("Betrag", "DOUBLE", Kind.MONEY),
        ("Umsätze_2026", "DOUBLE", Kind.MONEY),
        ("Summe EUR", "DECIMAL(18,2)", Kind.MONEY),
        ("Konto Soll", "BIGINT", Kind.NUMBER),
        ("Kostenstelle", "BIGINT", Kind.NUMBER),
    ],
)
def test_a_columns_kind_follows_from_its_name_and_type(name, type_name, kind):
    assert kind_of(name, type_name) is kind


def table_of(*rows, columns=None):
    names = columns or [f"c{place}" for place in range(len(rows[0]))]
    return {"columns": [{"name": n, "type": "VARCHAR"} for n in names], "rows": [*map(list, rows)]}


def test_every_field_of_csv_is_quoted_and_no_text_is_a_formula():
    text = csv_of(table_of(["=1+1", "-12.50", 3], ["@x", 'a "b"', None]))

    assert text.splitlines()[1:] == ['"\'=1+1","-12.50","3"', '"\'@x","a ""b""",""']


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5))
def test_csv_has_all_texts(rows):
    table = table_of(*rows, columns=["a", "b"])

    read = list(csv.reader(io.StringIO(csv_of(table), newline="")))[1:]

    assert [[cell.removeprefix("'") for cell in row] for row in read] == [
        [cell.removeprefix("'") for cell in row] for row in rows
    ]


def test_a_workbook_holds_values_with_their_formats_and_no_formula():
    table = table_of(["=HYPERLINK(1)", 1234.5, "2026-01-31", None, "a\x00b", "z" * 40_000])
    for column, (name, kind) in zip(
        table["columns"], [("t", "VARCHAR"), ("amount", "DOUBLE"), ("d", "DATE")], strict=False
    ):
        column |= {"name": name, "type": kind}

    book = openpyxl.load_workbook(io.BytesIO(workbook_of({"title": "A/B", **table})))

    (sheet,) = book.worksheets
    cells = next(sheet.iter_rows(min_row=2))
    assert sheet.title == "A B"
    assert [cell.data_type for cell in cells] == ["s", "n", "d", "n", "s", "s"]
    assert cells[1].number_format == "#,##0.00"
    assert cells[0].value == "=HYPERLINK(1)"
    assert cells[4].value == "a\ufffdb"
    assert len(cells[5].value) <= MAX_CELL_CHARS
    assert "cut" in cells[5].value


@pytest.mark.parametrize("letter", ["\x01", "\x0b", "\ufffe", "\uffff", "\ud800", "\udfff"])
def test_a_workbook_can_be_opened_whatever_a_text_contains(letter):
    table = table_of([f"a{letter}b"], columns=[f"c{letter}d"])

    book = openpyxl.load_workbook(io.BytesIO(workbook_of({"title": f"A{letter}B", **table})))

    assert book.sheetnames == ["A B"]
    assert list(book.active.values) == [("c\ufffdd",), ("a\ufffdb",)]


def test_days_before_those_of_excel_stay_text():
    written = ["0001-01-01", "1899-12-31", "1900-01-01", "2026-01-31"]
    table = {"columns": [{"name": "d", "type": "DATE"}], "rows": [[day] for day in written]}

    book = openpyxl.load_workbook(io.BytesIO(workbook_of(table)))

    cells = [row[0] for row in book.active.iter_rows(min_row=2)]
    assert [cell.data_type for cell in cells] == ["s", "s", "d", "d"]
    assert [str(cell.value)[:10] for cell in cells] == written


def test_sheets_of_one_title_get_names_of_their_own():
    file = io.BytesIO()
    titles = ["Budget of a very long title indeed"] * 3 + ["History", "[]", ""]
    write_workbook([(title, table_of(["x"])) for title in titles], file)

    names = openpyxl.load_workbook(file).sheetnames

    assert len({name.lower() for name in names}) == len(titles)
    assert all(0 < len(name) <= 31 for name in names)


ANSWER = """The budget:

| Cost centre | Budget EUR | Left | Note |
|:---|---:|---:|---|
| **CC-1001** | 1,200,000.50 | \u2013 | a \\| b |
| CC-1002 | \u22123 | 1.234 |

```
| no | table |
|----|-------|
```
"""


def test_tables_of_an_answer_are_read_with_values_where_those_are_sure():
    (table,) = find_tables(ANSWER)

    assert [column["type"] for column in table["columns"]] == [
        "VARCHAR", "DOUBLE", "DOUBLE", "VARCHAR",
    ]  # fmt: skip
    assert table["rows"] == [
        ["CC-1001", 1200000.5, None, "a | b"],
        ["CC-1002", -3.0, 1.234, ""],
    ]


@given(st.text(alphabet="|-: \n`a\\", max_size=400))
def test_any_text_can_be_looked_through_for_tables(text):
    for table in find_tables(text):
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


def test_a_hostile_line_is_looked_at_once():
    assert find_tables("|" + " " * 200_000 + "\n" + "|-" * 100_000 + " " * 200_000 + "x") == []


@pytest.mark.parametrize("piece", ["__a ", "**a ", "***a ", "***", "`", "``a", "**`a", "**__a "])
def test_a_hostile_cell_is_looked_at_once(piece):
    (table,) = find_tables(f"| a |\n|---|\n| {piece * (150_000 // len(piece))} |\n")

    assert table["row_count"] == 1


def column_of(*cells):
    (table,) = find_tables("| a |\n|---|\n" + "".join(f"| {cell} |\n" for cell in cells))
    return table["columns"][0]["type"], [row[0] for row in table["rows"]]


@pytest.mark.parametrize(
    "cells",
    [
        ("01067", "80331"),
        ("007", "-012"),
        ("12345678901234567890", "1"),
        ("0.1234567890123456", "1"),
    ],
)
def test_codes_in_an_answer_keep_all_their_digits(cells):
    assert column_of(*cells) == ("VARCHAR", list(cells))


def test_numbers_in_an_answer_are_values():
    assert column_of("0", "0.05", "-0.5") == ("DOUBLE", [0.0, 0.05, -0.5])
    assert column_of("123,456,789,012,345") == ("BIGINT", [123456789012345])


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("snake__case__x", "snake__case__x"),
        ("`__init__`", "__init__"),
        ("2**3", "2**3"),
        ("a ** b ** c", "a ** b ** c"),
        ("**kwargs", "**kwargs"),
        ("**Total**", "Total"),
        ("**Total:** 5 and __more__, too", "Total: 5 and more, too"),
        ("**`a__b__c`**", "a__b__c"),
        ("**__x__**", "x"),
        ("***x***", "x"),
        ("one<br>two <BR/> three", "one\ntwo \n three"),
    ],
)
def test_only_pairs_of_marks_around_words_are_left_out(written, shown):
    assert column_of(written) == ("VARCHAR", [shown])


@pytest.mark.parametrize(
    ("name", "type_name", "code", "kind", "text"),
    [
        ("total", "BIGINT", "", Kind.MONEY, "1,234.00"),
        ("total", "BIGINT", "0", Kind.NUMBER, "1234"),
        ("margin", "DOUBLE", "0.0%", Kind.NUMBER, "123400.0%"),
        ("x", "DOUBLE", "[$€]#,##0", Kind.MONEY, "€1,234"),
        ("amount", "DOUBLE", "#,##0.000", Kind.MONEY, "1,234.000"),
        ("ratio", "DOUBLE", "General", Kind.NUMBER, "1234"),
        ("t", "VARCHAR", "0.0%", Kind.TEXT, "1234"),
    ],
)
def test_a_format_decides_how_a_column_is_written_everywhere(name, type_name, code, kind, text):
    column = {"name": name, "type": type_name, "format": code}

    book = openpyxl.load_workbook(io.BytesIO(workbook_of({"columns": [column], "rows": [[1234]]})))

    assert kind_of(name, type_name, code) is kind
    assert cell_writers([column], "en-US")[0](1234) == text
    if code and kind is not Kind.TEXT:
        assert book.worksheets[0]["A2"].number_format == code
