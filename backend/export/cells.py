"""Table cells as documents show them: money with cents, a dash for null. Pure."""

from typing import Any

from backend.tabular.columns import CENTS, Kind

NOTHING = "\u2013"


def write_cell(value: Any, kind: Kind) -> str:
    """Return a cell's text."""
    if value is None:
        return NOTHING
    if kind is Kind.MONEY and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.{CENTS}f}"
    return str(value)


def is_number(kind: Kind) -> bool:
    """Return whether a column's cells are right-aligned."""
    return kind in (Kind.MONEY, Kind.NUMBER)
