"""Table cells as people read them, in any view: money with cents, a dash for no value. Pure."""

from collections.abc import Callable
from typing import Any

from backend.tabular.columns import CENTS, Kind
from backend.tabular.locales import NOTHING, write_day, write_moment, write_number

Writer = Callable[[Any], str]


def cell_writer(kind: Kind, locale: str | None) -> Writer:
    """Return the function that writes a cell of a column of this kind."""
    write = _writer(kind, locale)
    return lambda value: NOTHING if value is None else write(value)


def is_number(kind: Kind) -> bool:
    """Return whether a column's cells are right-aligned."""
    return kind in (Kind.MONEY, Kind.NUMBER)


def _writer(kind: Kind, locale: str | None) -> Writer:
    def number(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        if kind is Kind.MONEY:
            return write_number(value, locale, CENTS)
        # Whole numbers stay unformatted, because some are years.
        return write_number(value, locale, is_grouped=not float(value).is_integer())

    if is_number(kind):
        return number
    if kind is Kind.DATE:
        return lambda value: write_day(str(value), locale)
    if kind is Kind.MOMENT:
        return lambda value: write_moment(str(value), locale)
    return str
