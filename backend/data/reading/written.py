"""How the numbers of a workbook's columns are written, by their cells' formats."""

from array import array
from collections import Counter
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa

from backend.data.reading.raw import RAW, execute_on
from backend.data.reading.reading import Reading
from backend.tabular.number_formats import GENERAL, NumberFormat, merge, parse_format


@dataclass
class _Column:
    """The cells of a column: how many have each format, and the lines of each currency."""

    codes: Counter[str]
    lines: dict[str, "array[int]"]
    has_loose_fractions: bool = False


class WrittenColumns:
    """The formats of a table's cells, which are known once all rows have been read."""

    def __init__(self) -> None:
        self._columns: dict[int, _Column] = {}

    def add(self, place: int, line: int, value: float, code: str) -> None:
        """Note how a cell's number is written."""
        column = self._columns.setdefault(place, _Column(Counter(), {}))
        column.codes[code] += 1
        written = parse_format(code)
        if written is not None and written.currency:
            column.lines.setdefault(written.currency, array("I")).append(line)
        elif written is None or written.decimals is None:
            column.has_loose_fractions |= not float(value).is_integer()

    def mark_currencies(self, connection: duckdb.DuckDBPyConnection) -> set[int]:
        """Write the currency before each cell of columns that have several; return their places.

        Such a column is text, so that nobody adds up different currencies.
        """
        mixed = {place for place, column in self._columns.items() if len(column.lines) > 1}
        for place in mixed:
            for currency, lines in self._columns[place].lines.items():
                execute_on(
                    connection,
                    pa.table({"marked": pa.array(lines.tolist(), pa.int64())}),
                    f"UPDATE {RAW} SET c{place} = concat('{_plain(currency)} ', c{place}) "  # noqa: S608 - no quote in it
                    f"FROM incoming WHERE line = marked AND c{place} IS NOT NULL",
                )
        return mixed

    def applied_to(self, place: int, reading: Reading) -> Reading:
        """Return the reading of a column of numbers with their format, and a note about it."""
        column = self._columns.get(place)
        if column is None or reading.type not in ("BIGINT", "DOUBLE"):
            return reading
        formats = {code: parse_format(code) for code in column.codes}
        percent = sum(column.codes[c] for c, one in formats.items() if one and one.is_percent)
        count = column.codes.total()
        if 0 < percent < count:
            some = f"{percent:,} of {count:,} numbers are percent (0.07 is 7 %), the others are not"
            return replace(
                reading, note=_joined(reading.note, some), warnings=[*reading.warnings, some]
            )
        written = merge([None if code == GENERAL else one for code, one in formats.items()])
        if written is None:
            return reading
        if column.has_loose_fractions or 2 * column.codes[GENERAL] > count:
            written = replace(written, decimals=None, is_grouped=False)
        if written == NumberFormat():
            return reading
        note = _joined(reading.note, _note(written))
        return replace(reading, format=written.code, note=note)


def _note(written: NumberFormat) -> str:
    if written.is_percent:
        return "percent: 0.07 is 7 %"
    return f"in {written.measure}" if written.measure else ""


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


def _plain(currency: str) -> str:
    return currency.replace("'", "")
