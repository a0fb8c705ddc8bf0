"""Lines below a table: remarks, and totals that would be counted twice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from backend.data.reading.cells import SPACES, Kind, kind_of
from backend.data.reading.raw import RAW
from backend.data.reading.reading import Reading, with_parts
from backend.data.sql.quoting import literal

_LOOKED_AT = 12
_TOTAL = (
    r"(?i)(grand |sub|sub-|sub )?total(s|e|en)?( .*)?|sum|summe( .*)?|gesamt(summe)?|zwischensumme"
    r"|somme|suma|totaal|итого|всего|合计|总计"
)
_MOST_SUMMED = 50
_total = re.compile(_TOTAL)


@dataclass(frozen=True)
class LastRow:
    """One of the last records: its line, its number of cells, and the cells."""

    line: int
    count: int
    cells: tuple[str, ...]

    @property
    def filled(self) -> list[str]:
        """The cells that are not empty."""
        return [cell for cell in self.cells if cell.strip(SPACES)]

    @property
    def text(self) -> str:
        """The record as text."""
        return " | ".join(self.filled)


def last_rows(connection: duckdb.DuckDBPyConnection, width: int) -> list[LastRow]:
    """Return the last records, the last one first."""
    places = ", ".join(f"c{place}" for place in range(width))
    lines = f"SELECT line FROM {RAW} ORDER BY line DESC LIMIT {_LOOKED_AT}"  # noqa: S608
    ((first,),) = connection.execute(f"SELECT min(line) FROM ({lines})").fetchall()  # noqa: S608
    if first is None:
        return []
    rows = connection.execute(  # not sorted there: a wide table leaves the engine no memory
        f"SELECT line, cells, {places} FROM {RAW} WHERE line >= {first}"  # noqa: S608
    ).fetchall()
    last = [LastRow(row[0], row[1], tuple(cell or "" for cell in row[2:])) for row in rows]
    return sorted(last, key=lambda row: -row.line)


def find_remarks(rows: Sequence[LastRow], width: int) -> list[LastRow]:
    """Return the records at the end that are sentences below the table, not rows of it."""
    found: list[LastRow] = []
    for row in rows[:-1]:
        if not _is_remark(row, width):
            break
        found.append(row)
    return found


def _is_remark(row: LastRow, width: int) -> bool:
    if width < 2 or len(row.filled) != 1 or kind_of(row.filled[0]) != Kind.TEXT:
        return False
    return row.count < width or width > 2


def find_total(rows: Sequence[LastRow]) -> LastRow | None:
    """Return the record labelled as a total, among the last three."""
    for row in rows[:3]:
        if any(_total.fullmatch(cell.strip(SPACES + ":")) for cell in row.filled[:2]):
            return row
    return None


def is_sum(
    connection: duckdb.DuckDBPyConnection, row: LastRow, readings: Sequence[Reading], below: int
) -> bool:
    """Return whether a figure of the record is the sum of those above; `below` is the last line."""
    numbers = [r for r in readings if r.type in ("BIGINT", "DOUBLE")][:_MOST_SUMMED]
    for reading in numbers:
        ((own, others),) = connection.execute(
            f"SELECT sum({reading.expression}) FILTER (line = {row.line}), "  # noqa: S608 - our own names
            f"sum({reading.expression}) FILTER (line < {row.line}) "
            f"FROM {with_parts([reading])} WHERE line <= {below}"
        ).fetchall()
        if own and others and abs(own - others) <= max(0.011, abs(others) * 1e-6):
            return True
    return False


def count_totals(connection: duckdb.DuckDBPyConnection, last_line: int) -> int:
    """Return how many records up to a line are labelled as totals in their first cell."""
    ((count,),) = connection.execute(
        f"SELECT count(*) FROM {RAW} WHERE line <= {last_line} "  # noqa: S608 - our own names
        f"AND regexp_full_match(trim(c0, ' :'), {literal(_TOTAL)})"
    ).fetchall()
    return int(count)
