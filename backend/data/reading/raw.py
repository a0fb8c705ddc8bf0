"""All cells of a table as text in DuckDB, with their lines; every decision is based on these.

A record has as many cells as the table; any further ones are in `surplus`.
"""

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import time, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from backend.data.reading.encoding import Lines

RAW = "scratch.raw"
_CELLS_OF_BATCH = 200_000
_CHARS_OF_BATCH = 8_000_000

Record = tuple[int, list[str]]


class Code(str):
    """The type of a workbook's cells that are numbers, but codes by their format: 01067."""

    __slots__ = ()


@dataclass(frozen=True)
class RawColumn:
    """One column: where its texts are, its name, and the types of its cells, if known."""

    place: str  # c0, c1, ...
    name: str
    kinds: frozenset[type] = frozenset()

    @property
    def has_only_numbers(self) -> bool:
        """Whether all cells were numbers before they became text."""
        return bool(self.kinds) and self.kinds <= {int, float}

    @property
    def has_only_durations(self) -> bool:
        """Whether all cells were durations; times among them are durations, too."""
        return timedelta in self.kinds and self.kinds <= {timedelta, time}


def load_raw(
    connection: duckdb.DuckDBPyConnection,
    records: Iterable[Record],
    width: int,
    spool: Path | None = None,
    usual: int = 0,
) -> None:
    """Fill the table RAW with line, number of cells, the cells c0, c1, ... and the surplus.

    `usual` is given for a text file: there, an empty cell beyond the table counts, too. With
    `spool`, all records are written there first, so that their source and the engine are not in
    memory together.
    """
    texts = [*(f"c{place}" for place in range(width)), "surplus"]
    schema = pa.schema(
        [("line", pa.int64()), ("cells", pa.int32()), *((name, pa.string()) for name in texts)]
    )
    batches = _batches(records, width, usual, schema)
    if spool is not None:
        _write(spool, batches, schema)
        reader = pa.ipc.open_stream(pa.memory_map(str(spool)))
    else:
        reader = pa.RecordBatchReader.from_batches(schema, batches)
    connection.execute(f"DROP TABLE IF EXISTS {RAW}")
    execute_on(connection, reader, f"CREATE TABLE {RAW} AS FROM incoming")
    if spool is not None:
        spool.unlink()


def execute_on(
    connection: duckdb.DuckDBPyConnection, rows: pa.Table | pa.RecordBatchReader, statement: str
) -> None:
    """Run a statement that reads these rows as the table `incoming`."""
    connection.register("incoming", rows)
    connection.execute(statement)
    connection.unregister("incoming")


@dataclass(frozen=True)
class RegularFile:
    """A text file in which every line seems to be one record of the same width."""

    path: Path
    separator: str
    quote: str
    first_line: int  # of data
    lines: Lines  # of data


def load_regular(connection: duckdb.DuckDBPyConnection, file: RegularFile, width: int) -> bool:
    """Fill the table RAW with DuckDB's own reader, many times faster; return whether it could.

    It refuses a record of another width or an unclosed quote. Its result is used only if every line
    was one record, because line numbers would be wrong otherwise, and if no line has more empty
    cells at its end than it has columns, which the engine takes for nothing.
    """
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(width))
    options = (
        f"auto_detect = false, header = false, skip = {file.first_line - 1}, delim = ?, quote = ?, "
        f"escape = ?, strict_mode = true, columns = {{{columns}}}"
    )
    cells = ", ".join(f"nullif(c{place}, '') AS c{place}" for place in range(width))
    place = [glob.escape(str(file.path)), file.separator, file.quote, file.quote]
    connection.execute(f"DROP TABLE IF EXISTS {RAW}")
    try:
        connection.execute(
            f"CREATE TABLE {RAW} AS SELECT row_number() OVER () + {file.first_line - 1} AS line, "  # noqa: S608 - our own names
            f"{width} AS cells, {cells}, NULL::VARCHAR AS surplus FROM read_csv(?, {options})",
            place,
        )
    except duckdb.Error:
        return False
    ((rows, filled),) = connection.execute(
        f"SELECT count(*), count(c{width - 1}) FROM {RAW}"  # noqa: S608
    ).fetchall()
    return Lines(rows, rows - filled) == file.lines


def delete_rows(connection: duckdb.DuckDBPyConnection, condition: str) -> int:
    """Delete the records for which the SQL is true; return how many these were."""
    rows = connection.execute(f"DELETE FROM {RAW} WHERE {condition}").fetchall()  # noqa: S608 - our own names
    return int(rows[0][0])


def _write(spool: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> None:
    with pa.OSFile(str(spool), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _batches(
    records: Iterable[Record], width: int, usual: int, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    most = max(1, min(20_000, _CELLS_OF_BATCH // max(1, width)))
    rows: list[list[object]] = []
    chars = 0
    for line, cells in records:
        row = _row(line, cells, width, usual)
        rows.append(row)
        chars += sum(map(len, cells))
        if len(rows) >= most or chars > _CHARS_OF_BATCH:
            yield _batch(rows, schema)
            rows, chars = [], 0
    if rows:
        yield _batch(rows, schema)


def _row(line: int, cells: list[str], width: int, usual: int) -> list[object]:
    count = len(cells)
    if count <= width:
        return [line, count, *cells, *[""] * (width - count), ""]
    surplus = [cell for cell in cells[width:] if cell.strip()]
    return [line, count if surplus or usual else width, *cells[:width], " | ".join(surplus)]


def _batch(rows: list[list[object]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        _array(values, field.type)
        for values, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)


def _array(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """Return the values of a column, NULL for cells without text."""
    array = pa.array(values, kind)
    return pc.if_else(pc.equal(array, ""), None, array) if pa.types.is_string(kind) else array
