"""Columns that are corrected to dates or booleans, as files of many countries write them."""

import json
from datetime import date, datetime

import pytest

from backend.data.errors import CorrectionRefused
from backend.data.files.formats import Format
from tests.unit.data.files.uploading import fill, workbook

DAYS = [(1, date(2024, 1, 31)), (2, date(2023, 12, 1))]
YES_AND_NO = [
    "VRAI FAUX", "Oui Non", "SÍ NO", "Sì No", "si no", "JA NEIN", "Ja Nee", "ja nej", "WAHR FALSCH",
    "SIM NÃO", "TAK NIE", "Prawda Fałsz", "Vero Falso", "ano ne", "да нет", "true false", "Y N",
]  # fmt: skip


@pytest.mark.parametrize("wanted", ["date", "date_ymd"])
def test_days_without_separators_can_be_dates(tmp_path, wanted):
    content = "id;day\n1;20240131\n2;20231201\n"

    assert fill(tmp_path, content, {"types": {"day": wanted}}) == DAYS


def test_so_can_those_of_workbooks_and_json(tmp_path):
    given = {"types": {"day": "date"}}
    book = workbook(tmp_path, [["id", "day"], [1, 20240131], [2, "20231201"]])
    records = json.dumps([{"id": 1, "day": 20240131}, {"id": 2, "day": 20231201}])

    assert fill(tmp_path, book, given, Format.WORKBOOK, "a.xlsx") == DAYS
    (tmp_path / "snapshot.duckdb").unlink()
    assert fill(tmp_path, records, given, Format.JSON, "a.json") == DAYS


def test_zeros_and_the_last_day_of_all_are_what_they_mean(tmp_path):
    content = "id;until\n1;00000000\n2;99991231\n3;20240131\n"

    rows = fill(tmp_path, content, {"types": {"until": "date"}})

    assert rows == [(1, None), (2, date(9999, 12, 31)), (3, date(2024, 1, 31))]


def test_days_without_separators_can_have_a_time(tmp_path):
    content = "id;at\n1;20240131T23:59:59\n2;20240131 08:30\n3;20240131\n"

    rows = fill(tmp_path, content, {"types": {"at": "timestamp"}})

    moments = [datetime(2024, 1, 31, 23, 59, 59), datetime(2024, 1, 31, 8, 30)]
    assert rows == [(1, moments[0]), (2, moments[1]), (3, datetime(2024, 1, 31))]


def test_digits_that_are_no_days_are_refused_by_name(tmp_path):
    content = "id;day\n1;20240131\n2;20241301\n"

    with pytest.raises(CorrectionRefused, match="1 cell is not, as '20241301'"):
        fill(tmp_path, content, {"types": {"day": "date"}})


def test_they_stay_numbers_unless_a_person_corrects_them(tmp_path):
    assert fill(tmp_path, "id;day\n1;20240131\n2;20231201\n", {})[0] == (1, 20240131)


@pytest.mark.parametrize("words", YES_AND_NO)
def test_yes_and_no_can_be_booleans_in_many_languages(tmp_path, words):
    yes, no = words.split()
    content = f"id;paid\n1;{yes}\n2;{no}\n3;\n"

    rows = fill(tmp_path, content, {"types": {"paid": "boolean"}})

    assert rows == [(1, True), (2, False), (3, None)]


def test_an_accent_that_is_a_character_of_its_own_is_the_same(tmp_path):
    rows = fill(tmp_path, "id;ok\n1;Si\u0301\n2;Na\u0303o\n", {"types": {"ok": "boolean"}})

    assert rows == [(1, True), (2, False)]


def test_other_words_are_refused_by_name(tmp_path):
    with pytest.raises(CorrectionRefused, match="1 cell is not, as 'vielleicht'"):
        fill(tmp_path, "id;ok\n1;ja\n2;vielleicht\n", {"types": {"ok": "boolean"}})
