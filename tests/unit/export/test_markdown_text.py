"""A session as Markdown: each cell stays on its line, whatever it holds."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from backend.export.markdown_text import write_markdown
from backend.export.parts import Part
from backend.export.reader import Reader
from tests.patience import ends_within

LONGEST = 1_000_000
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def written(cell: Any, title: str = "T") -> str:
    """Return the last line of an export of one table with one cell."""
    table = {"columns": [{"name": "a", "type": "VARCHAR"}], "rows": [[cell]], "row_count": 1}
    row = SimpleNamespace(message_type="tool", agent=None, created_at=NOW)
    history: Any = SimpleNamespace(
        session=SimpleNamespace(title=title, domain="d", created_at=NOW),
        rows=lambda: [row],
        part=lambda _: Part("table", label="T", table=table),
        reader=Reader(),
    )
    return "".join(write_markdown(history)).rstrip("\n").split("\n")[-1]


@pytest.mark.parametrize(
    "cell", ["a\nb", " a \n\n \t b\n", "a\r\nb", "a\rb", "a\u2028b", "\n\na\x0bb"]
)
def test_a_cell_of_several_lines_is_written_on_one(cell: str) -> None:
    assert written(cell) == "| a b |"


def test_blanks_within_a_line_stay() -> None:
    assert written("a  b|c") == "| a  b\\|c |"
    assert written(" \n ") == "|  |"


@pytest.mark.parametrize("unit", [" ", "\n", " \n", "\t", "\r\n", "|"])
def test_a_long_cell_holds_up_no_export(unit: str) -> None:
    with ends_within(3):
        assert written("a" + unit * LONGEST + "b").startswith("| a")
