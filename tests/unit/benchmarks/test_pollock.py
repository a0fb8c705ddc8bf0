"""The measures of the Pollock benchmark: what counts as right, as said, and as silently wrong."""

from datetime import date, time

import pytest

from benchmarks.pollock import MEASURES, is_same, judge

CLEAN = "id,item,amount\n1,Paper,10\n2,Toner,20\n3,Chair,30\n"


def judged(folder, polluted, clean=CLEAN):
    (folder / "polluted.csv").write_text(polluted)
    (folder / "clean.csv").write_text(clean)
    return judge(folder / "polluted.csv", folder / "clean.csv")


def test_a_file_that_is_read_as_its_clean_version_has_ten_points(tmp_path):
    verdict = judged(tmp_path, CLEAN.replace(",", ";"))

    assert (verdict.score, verdict.wrong) == (len(MEASURES), "")


def test_a_wrong_cell_is_found_and_whether_anything_is_said(tmp_path):
    said = judged(tmp_path, CLEAN.replace("2,Toner,20", "2,Toner 20"))
    silent = judged(tmp_path, CLEAN.replace("Toner", "Tuner"))

    assert (said.wrong, said.is_said) == ("row 2, cell 2: 'Toner 20' instead of 'Toner'", True)
    assert (silent.wrong, silent.is_said) == ("row 2, cell 2: 'Tuner' instead of 'Toner'", False)
    assert silent.measures["record_f1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("$74.69", 74.69, True),
        ("1,200", 1200, True),
        ("1,200", 1, False),
        ("28/01/2026", date(2026, 1, 28), True),
        ("28/01/2026", date(2026, 1, 27), False),
        ("00:15", time(0, 15), True),
        ("n/a", None, True),
        ("0012", None, False),
        ("oak", "oak,", False),
    ],
)
def test_a_value_is_the_same_if_it_is_what_the_text_means(text, value, expected):
    assert is_same(text, value) is expected
