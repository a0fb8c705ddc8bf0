"""Columns that are corrected to numbers keep the values that their cells show."""

import pytest

from backend.data.errors import CorrectionRefused
from backend.data.files.formats import Format
from tests.unit.data.files.uploading import fill, workbook

OTHER_MARK = "id;rate;amount\n1;1.5;€ 1.234,50\n2;2.25;$ 99,10\n3;3.75;€ 12.345,60\n"
TWO_NOTATIONS = "id;amount\n1;1,234.50\n2;1.234,50\n3;n.a.\n"


def test_a_column_is_read_by_its_own_decimal_mark_not_that_of_others(tmp_path):
    rows = fill(tmp_path, OTHER_MARK, {"types": {"amount": "number"}})

    assert rows == [(1, 1.5, 1234.5), (2, 2.25, 99.1), (3, 3.75, 12345.6)]


@pytest.mark.parametrize(("decimal", "misfit"), [(",", "1,234.50"), (".", "1.234,50")])
def test_cells_that_do_not_fit_the_given_mark_are_refused_by_name(tmp_path, decimal, misfit):
    with pytest.raises(CorrectionRefused, match=f"1 cell is not, as '{misfit}'"):
        fill(tmp_path, TWO_NOTATIONS, {"types": {"amount": "number"}, "decimal": decimal})


def test_cells_that_show_no_mark_are_read_by_that_of_others(tmp_path):
    content = "id;price;amount\n1;1,5;7.000\n2;2,25;1.234\n3;3,75;2.345\n"

    rows = fill(tmp_path, content, {"types": {"amount": "number"}})

    assert rows == [(1, 1.5, 7000), (2, 2.25, 1234), (3, 3.75, 2345)]


def test_a_real_number_of_a_workbook_has_a_decimal_point_whatever_a_text_says(tmp_path):
    content = workbook(tmp_path, [["id", "kg"], [1, 1.234], [2, 2.345], [3, "2,5"], [4, 3.125]])

    rows = fill(tmp_path, content, {}, Format.WORKBOOK, "a.xlsx")

    assert [kg for _, kg in rows] == ["1.234", "2.345", "2,5", "3.125"]


def test_a_decimal_mark_concerns_the_texts_of_a_workbook_only(tmp_path):
    head = ["id", "kg", "eur", "both"]
    content = workbook(tmp_path, [head, [1, 1.234, "1.234,50", 1.234], [2, 2.5, "7,10", "2,5"]])
    types = dict.fromkeys(head[1:], "number")

    rows = fill(tmp_path, content, {"types": types, "decimal": ","}, Format.WORKBOOK, "a.xlsx")

    assert rows == [(1, 1.234, 1234.5, 1.234), (2, 2.5, 7.1, 2.5)]


def test_a_decimal_mark_concerns_the_texts_of_json_only(tmp_path):
    content = '[{"kg": 1.234, "eur": "1.234,50"}, {"kg": 2.5, "eur": "7,10"}]'
    given = {"types": {"kg": "number", "eur": "number"}, "decimal": ","}

    assert fill(tmp_path, content, given, Format.JSON, "a.json") == [(1.234, 1234.5), (2.5, 7.1)]
