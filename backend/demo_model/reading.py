"""Reads tables from tool results, and writes figures for people. Pure."""

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext

Row = Mapping[str, str]

UNREADABLE = "The tool's result holds no figures that I can read. Please ask again."
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


def read_rows(content: str, *required: str) -> list[Row]:
    """Return the rows of a result's Markdown table; none if a required column is missing."""
    lines = [line for line in content.splitlines() if line.startswith("|")]
    if len(lines) < 2:
        return []
    columns = _cells(lines[0])
    rows = [dict(zip(columns, _cells(line), strict=False)) for line in lines[2:]]
    return [row for row in rows if all(name in row for name in required)]


def number(text: str | None) -> Decimal:
    """Return a cell's number; empty cells and texts count as zero."""
    try:
        return Decimal((text or "0").replace(",", ""))
    except InvalidOperation:
        return Decimal(0)


def money(amount: Decimal | str | None) -> str:
    """Return an amount with thousands separators and the group's currency: EUR 1,234.50."""
    value = amount if isinstance(amount, Decimal) else number(amount)
    return f"EUR {two_places(value)}"


def two_places(value: Decimal) -> str:
    """Return a number as the pages' tables show it: 2.625 is 2.63."""
    with localcontext(rounding=ROUND_HALF_UP):
        return f"{value:,.2f}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; columns of numbers are right-aligned."""
    marks = ["---:" if _is_numeric(rows, i) else "---" for i in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, marks, *rows))


def figure(text: str) -> str:
    """Return a cell for people: decimals with separators, integers unchanged (years, codes)."""
    if re.fullmatch(r"-?\d+\.\d+", text):
        return two_places(Decimal(text))
    return text


def _is_numeric(rows: Sequence[Sequence[str]], index: int) -> bool:
    cells = [row[index] for row in rows if index < len(row) and row[index]]
    return bool(cells) and all(re.fullmatch(r"-?[\d,]+(\.\d+)?( %)?", cell) for cell in cells)


def _cells(line: str) -> list[str]:
    inner = line.strip()[1:-1]
    return [
        part.strip().replace("\\|", "|").replace("\\\\", "\\")
        for part in _UNESCAPED_PIPE.split(inner)
    ]
