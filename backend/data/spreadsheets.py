"""Excel sheets as typed tables: one per sheet, its first row that is not empty is the header.

Rows are taken in batches and kept as text, which is small; the types are found at the end.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pyarrow as pa
import pyarrow.compute as pc

from backend.data.errors import SourceUnusable

MAX_COLUMNS = 2_000
_ROWS_PER_BATCH = 2_000
_LARGEST_UNPACKED = 500_000_000  # bytes; ten columns of 100,000 rows are 50 MB

Row = Sequence[Any]


def read_sheets(path: Path) -> Iterator[tuple[str, pa.Table]]:
    """The title and the content of each sheet that is not empty; formulas as last calculated.

    Raises SourceUnusable for a workbook that is too large once it is unpacked.
    """
    _check_size(path)
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        for sheet in workbook.worksheets:
            rows = (row for row in sheet.iter_rows(values_only=True) if _is_filled(row))
            header = next(rows, None)
            if header is not None:
                yield str(sheet.title), _table(header, rows)
    finally:
        workbook.close()


def column_names(header: Sequence[Any]) -> list[str]:
    """The header's texts, made unique; a column without one is named by its number."""
    names: list[str] = []
    taken: set[str] = set()
    for number, cell in enumerate(header, 1):
        name = str(cell).strip() if cell is not None else ""
        name = name or f"column_{number}"
        candidate, count = name, 1
        while candidate.lower() in taken:
            count += 1
            candidate = f"{name}_{count}"
        names.append(candidate)
        taken.add(candidate.lower())
    return names


def check_width(columns: int) -> None:
    """Raise SourceUnusable for a table that is too wide to be listed, profiled and queried."""
    if columns > MAX_COLUMNS:
        raise SourceUnusable(
            f"It has {columns:,} columns; at most {MAX_COLUMNS:,} can be read. "
            "Turn the columns into rows, or leave some out."
        )


def _check_size(path: Path) -> None:
    """What the archive says of its own sizes is binding: its reader reads no further."""
    with ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    if unpacked > _LARGEST_UNPACKED:
        raise SourceUnusable(
            f"The workbook unpacks to {unpacked / 1e6:,.0f} MB; at most "
            f"{_LARGEST_UNPACKED / 1e6:,.0f} MB can be read. Save it as CSV or Parquet."
        )


def _is_filled(row: Row) -> bool:
    return any(cell is not None for cell in row)


def _table(header: Row, rows: Iterator[Row]) -> pa.Table:
    columns = [_Column(0) for _ in header]
    count = 0
    while batch := list(islice(rows, _ROWS_PER_BATCH)):
        width = max(len(row) for row in batch)
        check_width(width)
        columns += [_Column(count) for _ in range(width - len(columns))]
        padded = [[*row, *[None] * (len(columns) - len(row))] for row in batch]
        for column, values in zip(columns, zip(*padded, strict=True), strict=True):
            column.add(values)
        count += len(batch)
    names = column_names([*header, *[None] * (len(columns) - len(header))])
    check_width(len(names))
    return pa.table([column.typed() for column in columns], names=names)


class _Column:
    """One column: its cells as text, and of which types they were."""

    def __init__(self, empty_cells: int) -> None:
        self._chunks = [pa.nulls(empty_cells, pa.string())]
        self._kinds: set[type] = set()
        self._is_long = False  # holds a whole number beyond 64 bits

    def add(self, values: Sequence[Any]) -> None:
        """Append a batch of cells."""
        kinds = {type(value) for value in values if value is not None}
        self._kinds |= kinds
        if int in kinds:
            self._is_long |= any(type(v) is int and abs(v) >= 2**63 for v in values)
        self._chunks.append(
            pa.array([None if v is None else _text(v) for v in values], pa.string())
        )

    def typed(self) -> pa.ChunkedArray:
        """All cells under the narrowest type that holds them; text if they are mixed."""
        texts, kinds = pa.chunked_array(self._chunks), self._kinds
        if not kinds:
            return texts
        if kinds == {bool}:
            return pc.equal(texts, "True")
        if kinds == {int} and not self._is_long:
            return texts.cast(pa.int64())
        if kinds <= {int, float}:
            return texts.cast(pa.float64())
        if kinds <= {datetime, date}:
            return _dates(texts)
        return texts


def _dates(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    moments = texts.cast(pa.timestamp("us"))
    days = moments.cast(pa.date32(), safe=False)
    is_whole = pc.all(pc.equal(days.cast(pa.timestamp("us")), moments)).as_py()
    return moments if is_whole is False else days


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)
