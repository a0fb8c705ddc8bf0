"""A number of an answer is one on evidence: of its cells, table, amounts or language."""

import pytest

from backend.markdown.tables import find_tables

GERMAN = "Der Umsatz ist die Summe der Posten und der Rest."
ENGLISH = "The revenue of the year is in the table."


def column_of(answer, *cells, beside=""):
    """Return the type and the values of a column, and whether it is said to be doubtful."""
    rows = "".join(f"| {cell} | {beside} |\n" for cell in cells)
    (table,) = find_tables(f"{answer}\n\n| a | b |\n|---|---|\n{rows}")
    return [row[0] for row in table["rows"]], bool(table["doubts"])


@pytest.mark.parametrize(
    ("answer", "cells", "values"),
    [
        ("", ["1,234.56", "1,085"], [1234.56, 1085.0]),
        ("", ["1.234,56", "1.085"], [1234.56, 1085.0]),
        ("", ["12,5", "1,085"], [12.5, 1.085]),
        ("", ["1,234,567", "1,085"], [1234567, 1085]),
        ("", ["1 234,5", "2"], [1234.5, 2.0]),
        ("", ["1'234.50", "\u2212\u20071"], ["1'234.50", "\u2212\u20071"]),
        ("", ["1'234.50", "\u22123"], [1234.5, -3.0]),
        ("", ["1234", "\u2013", "+5"], [1234, None, 5]),
        ("", ["0,123", "5"], [0.123, 5.0]),
        (ENGLISH, ["1,085", "985"], [1085, 985]),
        (GERMAN, ["1.085", "985"], [1085, 985]),
        ("売上の表です。", ["1,085"], [1085]),
        (GERMAN, ["1,085", "1,234.50"], [1085.0, 1234.5]),
        ("Wachstum: 12,5 %.", ["1,085"], [1.085]),
        ("Total: 1,234,567.", ["1,085"], [1085]),
    ],
)
def test_evidence_makes_numbers(answer, cells, values):
    assert column_of(answer, *cells) == (values, False)


@pytest.mark.parametrize(
    ("answer", "cells"),
    [
        ("", ["1,085", "2,300"]),
        (GERMAN, ["1,085"]),
        (ENGLISH, ["1.085"]),
        ("Kapitel 3.2 vom 1.2.26", ["1,085"]),
        ("", ["1,5", "1.5"]),
    ],
)
def test_without_evidence_or_against_it_text_stays_and_that_is_said(answer, cells):
    assert column_of(answer, *cells) == (cells, True)


def test_another_column_of_the_table_decides():
    assert column_of("", "1,085", beside="0.75") == ([1085], False)
    assert column_of("", "1,085", beside="0,75") == ([1.085], False)


@pytest.mark.parametrize(
    ("cells", "values", "format_"),
    [
        (["1,234.50", "5.00"], [1234.5, 5.0], "#,##0.00"),
        (["12.5 %", "7 %"], [12.5, 7.0], '0.0"%"'),
        (["$1,200,000", "-$5"], [1200000, -5], "[$$]#,##0"),
        (["1.234,50 EUR", "0,50 EUR"], [1234.5, 0.5], "#,##0.00\\ [$EUR]"),
        (["1", "2"], [1, 2], ""),
        (["$5", "€5"], ["$5", "€5"], ""),
        (["5 %", "5"], ["5 %", "5"], ""),
        (["12 ABC"], ["12 ABC"], ""),
    ],
)
def test_what_all_numbers_have_beside_them_is_the_columns_format(cells, values, format_):
    (table,) = find_tables("| a |\n|---|\n" + "".join(f"| {cell} |\n" for cell in cells))

    assert [row[0] for row in table["rows"]] == values
    assert table["columns"][0].get("format", "") == format_
