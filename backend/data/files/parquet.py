"""Tables as Parquet files: written in batches and read by page, never whole in memory.

All of this runs in a child of the sandbox.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb.sqltypes import DuckDBPyType

from backend.data.engines.local import fetch, fetch_batches, own_connection
from backend.data.errors import QueryFailed
from backend.data.reading.header import unique_names
from backend.data.results import Limits, Scalar, Table, scalar
from backend.data.sql.quoting import identifier

MOST_ROWS = 2_000_000
MOST_COLUMNS = 1_000
SAMPLE = Limits(rows=50, bytes=200_000)
_BATCH_ROWS = 2_048
_FORMAT = b"number_format"  # of a column, in the metadata of its field
_GROUP_ROWS, _GROUP_BYTES = 50_000, 8_000_000
_LARGEST_FILE = 2_000_000_000
# Types that Parquet and DuckDB share; anything else is written as text.
_KEPT_WORDS = """
    boolean tinyint smallint integer bigint utinyint usmallint uinteger ubigint float double decimal
    varchar blob date time timestamp timestamp_s timestamp_ms timestamp_ns
"""
_KEPT = frozenset((*_KEPT_WORDS.split(), "timestamp with time zone"))
_TYPES = {"INTEGER": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}


@dataclass(frozen=True)
class Written:
    """A written table: its first rows and its row count."""

    sample: Table
    rows: int


def write_relation(
    relation: duckdb.DuckDBPyRelation, place: Path, formats: Sequence[str]
) -> Written:
    """Write all rows of a query's result. Raise QueryFailed if there are too many.

    The number formats of its columns are kept with them, as metadata of Arrow's fields.
    """
    names = unique_names(relation.columns)
    if len(names) > MOST_COLUMNS:
        raise QueryFailed(f"A table has at most {MOST_COLUMNS:,} columns. Choose some of them.")
    kinds = zip(relation.types, names, strict=True)
    parts = [
        f"{_stored(number, kind)} AS {identifier(n)}" for number, (kind, n) in enumerate(kinds, 1)
    ]
    reader = relation.project(", ".join(parts)).to_arrow_reader(_BATCH_ROWS)
    _write(_with_formats(reader.schema, formats), reader, place)
    return describe(place)


def write_rows(table: Table, place: Path) -> Written:
    """Write rows that are in memory already, such as those of a database."""
    if not table.complete:
        raise QueryFailed(f"The result is cut at {table.cut_by}. Aggregate, or ask for less.")
    names = unique_names([column.name for column in table.columns])
    columns = [
        _array([row[number] for row in table.rows], column.type)
        for number, column in enumerate(table.columns)
    ]
    whole = pa.Table.from_arrays(columns, names=names)
    schema = _with_formats(whole.schema, [column.format for column in table.columns])
    _write(schema, whole.to_batches(_BATCH_ROWS), place)
    return describe(place)


def describe(place: Path) -> Written:
    """Return a file's first rows and its row count."""
    return Written(read_page(place, 0, SAMPLE), pq.ParquetFile(place).metadata.num_rows)


def read_page(place: Path, offset: int, limits: Limits) -> Table:
    """Return rows from `offset` on, as many as the limits allow."""
    with opened() as connection:
        rows = connection.read_parquet(str(place))
        page = fetch(rows.limit(limits.rows, offset), limits)
    held = [(field.metadata or {}).get(_FORMAT, b"") for field in pq.read_schema(place)]
    return page.written_as([one.decode() for one in held])


def read_rows(place: Path) -> Iterator[list[Scalar]]:
    """Yield all rows, each cell as it is shown."""
    with opened() as connection:
        for batch in fetch_batches(connection.read_parquet(str(place))):
            for values in batch:
                yield [scalar(value) for value in values]


@contextmanager
def opened(folder: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a connection for our own queries about files; with a folder, it may use the disk."""
    with own_connection(temp_directory=str(folder) if folder else "") as connection:
        yield connection


def _with_formats(schema: pa.Schema, formats: Sequence[str]) -> pa.Schema:
    fields = zip(schema, formats, strict=True)
    return pa.schema([f.with_metadata({_FORMAT: code}) if code else f for f, code in fields])


def _write(schema: pa.Schema, pieces: Iterable[pa.RecordBatch], place: Path) -> None:
    """Write batches in groups that depend on the rows alone: equal rows give equal bytes."""
    rows = 0
    with pq.ParquetWriter(place, schema, compression="zstd") as writer:
        held: list[pa.RecordBatch] = []
        for piece in pieces:
            rows += piece.num_rows
            if rows > MOST_ROWS:
                raise QueryFailed(
                    f"The result has more than {MOST_ROWS:,} rows. Aggregate, or ask for less."
                )
            held.append(piece.cast(schema))
            if (
                sum(one.num_rows for one in held) >= _GROUP_ROWS
                or sum(one.nbytes for one in held) >= _GROUP_BYTES
            ):
                writer.write_table(pa.Table.from_batches(held, schema))
                held = []
                if place.stat().st_size > _LARGEST_FILE:
                    raise QueryFailed("The result is larger than 2 GB. Ask for less.")
        writer.write_table(pa.Table.from_batches(held, schema))


def _stored(number: int, kind: DuckDBPyType) -> str:
    if kind.id == "hugeint":  # what SUM makes of whole numbers
        return f"CAST(#{number} AS DECIMAL(38, 0))"
    return f"#{number}" if kind.id in _KEPT else f"CAST(#{number} AS VARCHAR)"


def _array(cells: Sequence[Scalar], type_name: str) -> pa.Array:
    """Return a column of a database's result; days stay days, if the calendar has them all."""
    kind = _TYPES.get(type_name, pa.string())
    if type_name == "DATE":
        with suppress(ValueError):
            days = [None if cell is None else date.fromisoformat(str(cell)) for cell in cells]
            return pa.array(days, pa.date32())
    return pa.array([_cell(cell, kind) for cell in cells], kind)


def _cell(value: Scalar, kind: pa.DataType) -> Any:
    if value is None or kind == pa.bool_():
        return value
    if kind == pa.int64():
        return int(value)
    return float(value) if kind == pa.float64() else str(value)
