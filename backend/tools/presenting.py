"""How a tool's table is handed over: whole as an artifact, bounded as the model's excerpt."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.data.results import Scalar, Table

EXCERPT_ROWS = 40
EXCERPT_CHARS = 8_000
_CELL_CHARS = 200

Artifact = Mapping[str, Any]


def table_artifact(title: str, table: Table) -> Artifact:
    """The whole table as a tool result keeps it."""
    return {
        "kind": "table",
        "title": title,
        "columns": [{"name": column.name, "type": column.type} for column in table.columns],
        "rows": table.rows,
        "row_count": len(table.rows),
        "complete": table.complete,
    }


def excerpt(title: str, table: Table, notes: Sequence[str] = ()) -> str:
    """What the model reads: notes, the first rows, and plainly what is not shown."""
    shown = _fitting_rows(table)
    lines = [f"{title}: {_count(len(table.rows), 'row')}.", *notes]
    lines += ["", markdown_table([column.name for column in table.columns], shown), ""]
    if len(shown) < len(table.rows):
        lines.append(
            f"EXCERPT: the first {len(shown)} of {len(table.rows):,} rows are shown to you. The "
            "whole result is kept and the person can open it. Use WHERE, ORDER BY or aggregates "
            "to see other rows."
        )
    if table.cut_by:
        lines.append(
            f"INCOMPLETE: reading stopped at {table.cut_by}; there are more rows. Totals over "
            "these rows would be wrong: aggregate in SQL instead."
        )
    return "\n".join(lines).strip()


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Scalar]]) -> str:
    """A Markdown table; cells are cut and cannot break out of it."""
    lines = [_line(columns), _line(["---"] * len(columns))]
    return "\n".join(lines + [_line([_cell(value) for value in row]) for row in rows])


def _fitting_rows(table: Table) -> list[list[Scalar]]:
    size = sum(len(column.name) + 3 for column in table.columns) * 2
    rows: list[list[Scalar]] = []
    for row in table.rows[:EXCERPT_ROWS]:
        size += sum(len(_cell(value)) + 3 for value in row)
        if size > EXCERPT_CHARS and rows:
            break
        rows.append(row)
    return rows


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _cell(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 1 and round(value, 2) == value else repr(value)
    text = str(value)
    return text if len(text) <= _CELL_CHARS else f"{text[:_CELL_CHARS]}… ({len(text):,} characters)"


def _escaped(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
