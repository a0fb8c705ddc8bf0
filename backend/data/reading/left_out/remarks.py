"""Leaves out sentences below a table, and rows that repeat its header; finds a second table."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import duckdb

from backend.data.reading.cells import SPACES, Kind, kind_of
from backend.data.reading.header import Header
from backend.data.reading.raw import RAW, delete_rows
from backend.data.reading.understood import Occurrences, Understood, quote
from backend.data.sql.quoting import literal

_LOOKED_AT = 12  # last records
_COMPARED = 20  # cells by which a header is recognised
_MOST_CANDIDATES = 50
_VALUES = (Kind.NUMBER, Kind.DATE, Kind.BOOLEAN, Kind.CODE)


def leave_out_remarks(
    connection: duckdb.DuckDBPyConnection, width: int, understood: Understood
) -> set[int]:
    """Delete and report sentences below the table; return their lines."""
    rows = _last_rows(connection, width)
    remarks = list(takewhile(lambda row: _is_remark(row, width), rows[:-1]))
    if not remarks:
        return set()
    seen = Occurrences()
    for row in reversed(remarks):
        seen.add(row.line, " | ".join(row.filled))
    understood.facts["below"] = seen.listed()
    understood.facts["below_count"] = seen.count
    delete_rows(connection, f"line >= {remarks[-1].line}")
    what = "line below the table was" if seen.count == 1 else "lines below the table were"
    understood.warn(f"{seen.count:,} {what} left out: {seen.shown()}.")
    return {row.line for row in remarks}


def leave_out_repeated_header(
    connection: duckdb.DuckDBPyConnection, header: Header, understood: Understood
) -> None:
    """Delete and report rows that repeat a header of one row."""
    if len(header.rows) != 1 or not any(header.cells):
        return
    pairs = list(enumerate(header.cells))[:_COMPARED]
    same = " AND ".join(
        f"c{place} = {literal(cell)}" if cell else f"c{place} IS NULL" for place, cell in pairs
    )
    count = delete_rows(connection, same)
    if count:
        times = (
            "once more; this line was" if count == 1 else f"{count:,} more times; these lines were"
        )
        understood.warn(f"The header stands there {times} left out.")


def tell_second_table(
    connection: duckdb.DuckDBPyConnection, width: int, understood: Understood
) -> None:
    """Report the first row after a gap whose cells name what is in the row below it."""
    places = [f"c{place}" for place in range(min(width, _COMPARED))]
    after = ", ".join(f"lead({place}) OVER () AS below_{place}" for place in places)
    begins_number = literal(r"(^|\n)\s*[-+(]?[0-9]")
    rows = connection.execute(  # the window is not sorted
        f"SELECT line, {', '.join(places)}, {', '.join(f'below_{place}' for place in places)} "  # noqa: S608 - our own names
        f"FROM (SELECT *, lag(line) OVER () AS before, {after} FROM {RAW}) "
        f"WHERE line > before + 1 AND NOT "
        f"regexp_matches(concat_ws(chr(10), {', '.join(places)}), {begins_number}) "
        f"LIMIT {_MOST_CANDIDATES}"
    ).fetchall()
    for line, *cells in rows:
        names, below = cells[: len(places)], cells[len(places) :]
        if _names(names, below):
            shown = quote(" | ".join(filter(None, names)))
            understood.warn(
                f"Line {line:,} reads as the header of another table: {shown}. Both were read as "
                "one; put each on a sheet or into a file of its own."
            )
            return


def tell_gap(connection: duckdb.DuckDBPyConnection, header: Header, understood: Understood) -> None:
    """Report columns without a name or a cell between others: there may be two tables."""
    named = [place for place, cell in enumerate(header.cells) if cell.strip()]
    gaps = [
        place for place in range(min(named, default=0), max(named, default=0)) if place not in named
    ]
    for place in gaps[:_COMPARED]:
        ((count,),) = connection.execute(f"SELECT count(c{place}) FROM {RAW}").fetchall()  # noqa: S608
        if not count:
            understood.warn(
                f"Column {place + 1:,} is empty and has no name. If it separates two tables, which "
                "were read as one, put each into a file of its own."
            )
            return


def _names(cells: Sequence[str | None], below: Sequence[str | None]) -> bool:
    """Return whether cells are different texts, one of them above a value."""
    filled = [cell for cell in cells if cell]
    if len(filled) < 2 or len(set(filled)) < len(filled):
        return False
    return all(kind_of(cell) is Kind.TEXT for cell in filled) and any(
        name and kind_of(cell or "") in _VALUES for name, cell in zip(cells, below, strict=True)
    )


@dataclass(frozen=True)
class _LastRow:
    """One of the last records: its line, its number of cells, and the cells."""

    line: int
    count: int
    cells: tuple[str, ...]

    @property
    def filled(self) -> list[str]:
        """The cells that are not empty."""
        return [cell for cell in self.cells if cell.strip(SPACES)]


def _is_remark(row: _LastRow, width: int) -> bool:
    if width < 2 or len(row.filled) != 1 or kind_of(row.filled[0]) != Kind.TEXT:
        return False
    return row.count < width or width > 2


def _last_rows(connection: duckdb.DuckDBPyConnection, width: int) -> list[_LastRow]:
    """Return the last records, the last one first."""
    places = ", ".join(f"c{place}" for place in range(width))
    lines = f"SELECT line FROM {RAW} ORDER BY line DESC LIMIT {_LOOKED_AT}"  # noqa: S608
    ((first,),) = connection.execute(f"SELECT min(line) FROM ({lines})").fetchall()  # noqa: S608
    if first is None:
        return []
    rows = connection.execute(  # not sorted there: a wide table leaves the engine no memory
        f"SELECT line, cells, {places} FROM {RAW} WHERE line >= {first}"  # noqa: S608
    ).fetchall()
    last = [_LastRow(row[0], row[1], tuple(cell or "" for cell in row[2:])) for row in rows]
    return sorted(last, key=lambda row: -row.line)
