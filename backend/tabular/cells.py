"""Table cells as people read them, in any view: by their format, a dash for no value. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import normalize

from backend.tabular.columns import Kind, format_of, kinds_of
from backend.tabular.locales import NOTHING, write_day, write_moment, write_number
from backend.tabular.number_formats import NumberFormat

Writer = Callable[[Any], str]


def cell_writers(columns: Iterable[Mapping[str, Any]], locale: str | None) -> list[Writer]:
    """Return the function for each column of a stored table that writes its cells."""
    columns = list(columns)
    return [
        _with_dash(_writer(kind, format_of(column), locale))
        for kind, column in zip(kinds_of(columns), columns, strict=True)
    ]


def rows_with(
    table: Mapping[str, Any], text: str, locale: str | None = None
) -> list[Sequence[Any]]:
    """Return the rows in which a cell contains the text, ignoring case and compatibility forms.

    A cell is searched as it is stored and as the page shows it: 1234.5 is also 1.234,50.
    """
    wanted, write = _compared(text.strip()), cell_writers(table.get("columns", []), locale)

    def has(cell: Any, shown: Writer) -> bool:
        if cell is None:
            return False
        return wanted in _compared(str(cell)) or wanted in _compared(shown(cell))

    rows: list[Sequence[Any]] = list(table.get("rows", []))
    return [row for row in rows if any(map(has, row, write))]


def _compared(text: str) -> str:
    return normalize("NFKC", text).casefold()


def is_number(kind: Kind) -> bool:
    """Return whether a column's cells are right-aligned."""
    return kind in (Kind.MONEY, Kind.NUMBER)


def _with_dash(write: Writer) -> Writer:
    return lambda value: NOTHING if value is None else write(value)


def _writer(kind: Kind, written: NumberFormat | None, locale: str | None) -> Writer:
    def number(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        if written is not None:
            return written.write(value, locale)
        # Whole numbers stay unformatted, because some are years.
        return write_number(value, locale, is_grouped=not float(value).is_integer())

    if is_number(kind):
        return number
    if kind is Kind.DATE:
        return lambda value: write_day(str(value), locale)
    if kind is Kind.MOMENT:
        return lambda value: write_moment(str(value), locale)
    return str
