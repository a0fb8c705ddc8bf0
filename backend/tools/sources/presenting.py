"""Presenting a tool's table: whole as an artifact, bounded as the model's excerpt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.data.results import Column, Scalar, Table
from backend.tabular.number_formats import parse_format
from backend.text import counted, listed

EXCERPT_ROWS = 40
EXCERPT_CHARS = 8_000
_CELL_CHARS = 200
_LARGEST_WITH_CENTS = 1e15

_LINE_BREAKERS = re.compile(r"[^\S ]")

Artifact = Mapping[str, Any]


@dataclass(frozen=True)
class RowWindow:
    """Where a table's rows are in the whole result, and how to see others.

    `first` rows come before the table's. `further` says how to continue, with {offset} for the
    first row that is not shown.
    """

    first: int = 0
    further: str = (
        "The whole result is kept and the person can open it. Use WHERE, ORDER BY or aggregates to "
        "see other rows."
    )


_START = RowWindow()


def table_artifact(title: str, table: Table) -> Artifact:
    """Return the whole table as a tool result stores it."""
    return {
        "kind": "table",
        "title": title,
        "columns": [column.wire for column in table.columns],
        "rows": table.rows,
        "row_count": len(table.rows),
        "complete": table.complete,
    }


def excerpt(title: str, table: Table, notes: Sequence[str] = (), window: RowWindow = _START) -> str:
    """Return what the model reads: notes, the first rows, and clearly what is not shown."""
    shown = _fitting_rows(table)
    lines = [f"{title}: {counted(len(table.rows), 'row')}{_before(window)}.", *notes]
    lines += _about_formats(table)
    cells = [[*map(_cell, row, table.columns)] for row in shown]
    lines += ["", markdown_table([column.name for column in table.columns], cells), ""]
    if len(shown) < len(table.rows):
        further = window.further.format(offset=window.first + len(shown))
        lines.append(
            f"EXCERPT: the first {len(shown)} of {len(table.rows):,} rows are shown to you. "
            f"{further}"
        )
    lines += _not_seen(table, shown)
    if table.cut_by:
        lines.append(
            f"INCOMPLETE: reading stopped at {table.cut_by}; there are more rows. Totals over "
            "these rows would be wrong: aggregate in SQL instead."
        )
    return "\n".join(lines).strip()


def _about_formats(table: Table) -> list[str]:
    """Return a note on what columns' cells are written in: percent, currencies and units."""
    formats = [(column.name, parse_format(column.format or "@")) for column in table.columns]
    said = [
        f"{name} in percent (7% is 0.07 in SQL)" if one.is_percent else f"{name} in {one.measure}"
        for name, one in formats
        if one and (one.is_percent or one.measure)
    ]
    return [f"Written: {listed(said)}."] if said else []


def _not_seen(table: Table, shown: Sequence[Sequence[Scalar]]) -> list[str]:
    """Return notes on what cells do not show: the rest of long texts, and NULL or ''."""
    lines = []
    if any(isinstance(cell, str) and len(cell) > _CELL_CHARS for row in shown for cell in row):
        further = f"substr(…, {_CELL_CHARS + 1}, {_CELL_CHARS}) reads on"
        lines.append(f"CUT: texts are shown up to {_CELL_CHARS} characters; {further}.")
    empty = [
        column.name
        for place, column in enumerate(table.columns)
        if {"", None} <= {row[place] for row in shown if not row[place]}
    ]
    if empty:
        lines.append(f"Empty cells of {', '.join(empty)} are NULL in some rows, '' in others.")
    return lines


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Scalar]]) -> str:
    """Return a Markdown table; cells are cut and cannot break out of it."""
    lines = [_line(columns), _line(["---"] * len(columns))]
    return "\n".join(lines + [_line([_text(value) for value in row]) for row in rows])


def _before(window: RowWindow) -> str:
    return f" after the first {window.first:,}" if window.first else ""


def _fitting_rows(table: Table) -> list[list[Scalar]]:
    size = sum(len(column.name) + 3 for column in table.columns) * 2
    rows: list[list[Scalar]] = []
    for row in table.rows[:EXCERPT_ROWS]:
        size += sum(len(_text(value)) + 3 for value in row)
        if size > EXCERPT_CHARS and rows:
            break
        rows.append(row)
    return rows


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _cell(value: Scalar, column: Column) -> Scalar:
    """Return a number with the decimals and percent sign of its column, but never rounded."""
    written = parse_format(column.format) if column.format else None
    if written is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if written.is_percent:
        return f"{round(value * 100, 10):.15g}%"
    if written.decimals and round(value, written.decimals) == value:
        return f"{value:.{written.decimals}f}"
    return value


def _text(value: Scalar) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        has_cents = 1 <= abs(value) < _LARGEST_WITH_CENTS and round(value, 2) == value
        return f"{value:.2f}" if has_cents else repr(value)
    text = str(value)
    return text if len(text) <= _CELL_CHARS else f"{text[:_CELL_CHARS]}… ({len(text):,} characters)"


def _escaped(text: str) -> str:
    """Return one line of text; special characters are escaped as in Python, line ends as \\n."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|")
    return _LINE_BREAKERS.sub(lambda found: repr(found[0])[1:-1], escaped)
