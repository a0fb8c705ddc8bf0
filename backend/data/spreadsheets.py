"""Excel sheets as typed tables: one per sheet, its first row that is not empty is the header."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa

from backend.data.interrupt import Interrupt

_ROWS_BETWEEN_CHECKS = 1000


def read_sheets(path: Path, interrupt: Interrupt) -> Iterator[tuple[str, pa.Table]]:
    """The title and the content of each sheet that is not empty; formulas as last calculated."""
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in workbook.worksheets:
            rows = []
            for number, row in enumerate(sheet.iter_rows(values_only=True)):
                if number % _ROWS_BETWEEN_CHECKS == 0:
                    interrupt.check()
                if any(cell is not None for cell in row):
                    rows.append(row)
            if rows:
                yield str(sheet.title), _table(rows)
    finally:
        workbook.close()


def column_names(header: Sequence[Any]) -> list[str]:
    """The header's texts, made unique; a column without one is named by its number."""
    names: list[str] = []
    for number, cell in enumerate(header, 1):
        name = str(cell).strip() if cell is not None else ""
        name = name or f"column_{number}"
        taken = {known.lower() for known in names}
        candidate, count = name, 1
        while candidate.lower() in taken:
            count += 1
            candidate = f"{name}_{count}"
        names.append(candidate)
    return names


def _table(rows: Sequence[Sequence[Any]]) -> pa.Table:
    width = max(len(row) for row in rows)
    padded = [[*row, *[None] * (width - len(row))] for row in rows]
    names = column_names(padded[0])
    columns = list(zip(*padded[1:], strict=True)) if len(padded) > 1 else [()] * width
    return pa.table([_array(column) for column in columns], names=names)


def _array(values: Sequence[Any]) -> pa.Array:
    """One column under the narrowest type that holds all of its cells; text if they are mixed."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.array(values, pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    if kinds <= {datetime, date}:
        return _dates(values)
    return pa.array([None if v is None else _text(v) for v in values], pa.string())


def _dates(values: Sequence[Any]) -> pa.Array:
    moments = [
        datetime.combine(v, time()) if v is not None and not isinstance(v, datetime) else v
        for v in values
    ]
    if all(moment is None or moment.time() == time() for moment in moments):
        return pa.array([moment and moment.date() for moment in moments], pa.date32())
    return pa.array(moments, pa.timestamp("us"))


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
