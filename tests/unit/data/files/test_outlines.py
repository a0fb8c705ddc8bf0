"""Labels of an outline stand once for several rows: they are repeated, or named if not sure."""

import pytest

from tests.unit.data.files.test_totals import read

PIVOT = "Region,Product,Sales\nNorth,A,10\n,B,20\nSouth,A,5\n,B,6\n"


@pytest.mark.parametrize("total", ["", "Grand Total,,41\n", ",,41\n"])
def test_the_labels_of_a_pivot_table_are_repeated_and_this_is_said(tmp_path, total):
    rows, warnings, _ = read(tmp_path, PIVOT + total)

    assert rows == [("North", "A", 10), ("North", "B", 20), ("South", "A", 5), ("South", "B", 6)]
    said = "Region: 2 empty cells below a label repeat it, as the rows are an outline."
    assert said in warnings


def test_so_are_years_and_labels_of_two_levels_between_subtotals(tmp_path):
    text = (
        "Year,Region,Product,x\n2025,North,A,1\n,,B,2\n,South,A,4\n,,B,8\n2025 Total,,,15\n"
        "2026,North,A,16\n,,B,32\n,South,A,64\n2026 Total,,,112\nGrand Total,,,127\n"
    )

    rows, _, _ = read(tmp_path, text)

    assert [row[:3] for row in rows] == [
        (2025, "North", "A"), (2025, "North", "B"), (2025, "South", "A"), (2025, "South", "B"),
        (2026, "North", "A"), (2026, "North", "B"), (2026, "South", "A"),
    ]  # fmt: skip


def test_few_empty_cells_among_labels_are_named(tmp_path):
    rows, warnings, _ = read(tmp_path, "who,what,x\na,p,1\n,q,2\nb,r,3\nc,s,4\n")

    assert rows[1] == (None, "q", 2)
    assert warnings == ["who: 1 empty cell below a label may stand for it, as in an outline; NULL."]


@pytest.mark.parametrize(
    "text",
    [
        "region,x\nNorth,1\n,2\nNorth,3\n,4\nSouth,5\n",
        "id,name,x\n17,a,1\n,b,2\n19,c,3\n,d,4\n",
        "who,what,x\n,p,1\na,q,2\nb,r,3\n,s,4\n",
    ],
)
def test_missing_values_stay_missing(tmp_path, text):
    rows, warnings, _ = read(tmp_path, text)

    assert sum(row[0] is None for row in rows) == 2
    assert not warnings


def test_an_empty_column_without_a_name_is_said(tmp_path):
    _, warnings, _ = read(tmp_path, "a,x,,b,y\np,1,,q,2\nr,3,,s,4\n")

    assert warnings == [
        "Column 3 is empty and has no name. If it separates two tables, which were read as one, "
        "put each into a file of its own."
    ]
