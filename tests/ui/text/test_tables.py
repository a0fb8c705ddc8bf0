"""A tool's table on the page, and the file that a person takes away."""

import pytest

from ui.shared.tables import file_name, styled, to_frame


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Budget 2026 (net)", "Budget 2026 (net).csv"),
        ("Übersicht für Zürich", "Übersicht für Zürich.csv"),
        ("../../etc/passwd", "etc-passwd.csv"),
        ("C:\\Windows\\x", "C-Windows-x.csv"),
        (".hidden", "hidden.csv"),
        ("report\u202evsc.exe", "report-vsc.exe.csv"),
        ("a\x00b\nc", "a-b-c.csv"),
        ("../..", "table.csv"),
        ("", "table.csv"),
        (None, "table.csv"),
    ],
)
def test_a_title_becomes_a_file_name_and_never_a_path(title, name):
    assert file_name(title) == name


def test_a_file_name_is_not_longer_than_a_file_system_allows():
    assert len(file_name("ü" * 5_000).encode()) < 255


def test_amounts_without_cents_are_written_as_those_with_cents_are():
    columns = [{"name": "budget", "type": "DOUBLE"}, {"name": "actual", "type": "DOUBLE"}]
    table = {"columns": columns, "rows": [[107100.0, 94969.62], [None, 0.0]]}

    shown = styled(table, to_frame(table), "en-US").to_string(delimiter="|")

    assert "107,100.00|94,969.62" in shown
