"""A tool's table on the page, and the file that a person takes away."""

import pytest

from ui.shared.tables import file_name


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
