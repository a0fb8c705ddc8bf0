"""The filter of a table finds what a cell holds, and what the page shows of it."""

import pytest

from backend.tabular.cells import rows_with

TABLE = {
    "columns": [
        {"name": "Ort", "type": "VARCHAR"},
        {"name": "Betrag", "type": "DOUBLE"},
        {"name": "Tag", "type": "DATE"},
    ],
    "rows": [["Köln", 1234.5, "2024-08-31"], ["Bonn", None, None]],
}


@pytest.mark.parametrize(
    "text", ["köln", "1234.5", "1.234,50", "2024-08-31", "31.08.2024", " Köln ", "\uff2b\u00f6ln"]
)
def test_a_cell_is_found_by_its_value_and_by_how_it_is_shown(text):
    assert rows_with(TABLE, text, "de") == [TABLE["rows"][0]]


def test_an_empty_cell_is_not_found_by_the_dash_that_is_shown_for_it():
    assert rows_with(TABLE, "None", "de") == []
