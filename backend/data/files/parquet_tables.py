"""Fills a table from a Parquet file; what the engine holds otherwise than it is written is said."""

import base64
import glob
import re
from pathlib import Path

import duckdb
import pyarrow as pa

from backend.data.reading.delimited import check_width
from backend.data.reading.reading import DURATIONS
from backend.data.reading.understood import Understood
from backend.data.sql.quoting import identifier
from backend.text import listed

_MOST_DIGITS = 38  # of a decimal in DuckDB
_RELATION = "read_parquet(?, hive_partitioning = false)"
_WIDE = "SELECT name FROM parquet_schema(?) WHERE precision > ?"
_NAMES = "SELECT name FROM parquet_schema(?)"
_SCHEMA = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'ARROW:schema'::BLOB"
_UNITS = {  # by Arrow's names: the word, and how many are a second
    "s": ("seconds", 1),
    "ms": ("milliseconds", 1_000),
    "us": ("microseconds", 1_000_000),
    "ns": ("nanoseconds", 1_000_000_000),
}
_duration = re.compile(r"duration\[(s|ms|us|ns)\]")


def read_parquet(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> Understood:
    """Create a table of the Parquet file; return how it was read."""
    place = [glob.escape(str(path))]
    found = connection.sql(f"FROM {_RELATION}", params=place)
    check_width(len(found.columns))
    understood = Understood(["Parquet"])
    durations = _durations(connection, found, place)
    seconds = _tell_durations(durations, understood)
    replaced = f" REPLACE ({', '.join(seconds)})" if seconds else ""
    connection.execute(f'CREATE TABLE "{name}" AS SELECT *{replaced} FROM {_RELATION}', place)  # noqa: S608 - names are quoted
    for (column,) in connection.execute(_WIDE, [*place, _MOST_DIGITS]).fetchall():
        understood.warn(
            f"{column}: its decimals may have more than {_MOST_DIGITS} digits; they are floats"
            " here, with about 15 digits."
        )
    written = {one for (one,) in connection.execute(_NAMES, place).fetchall()}
    for column in found.columns:
        if column not in written:
            understood.warn(
                f"{column}: named so here, because its name is empty or another's, too."
            )
    return understood


def _durations(
    connection: duckdb.DuckDBPyConnection, found: duckdb.DuckDBPyRelation, place: list[str]
) -> dict[str, pa.DataType]:
    """Return the columns with durations, by Arrow's schema: to Parquet they are whole numbers.

    A schema that is damaged, or does not fit the file, counts as none.
    """
    rows = connection.execute(_SCHEMA, place).fetchall()
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(rows[0][0]))) if rows else ()
    except (pa.ArrowException, ValueError, OSError):
        return {}
    if len(schema) != len(found.columns):
        return {}
    types = zip(found.columns, found.types, schema, strict=True)
    return {
        column: field.type
        for column, kind, field in types
        if "BIGINT" in str(kind) and _duration.search(str(field.type))
    }


def _tell_durations(durations: dict[str, pa.DataType], understood: Understood) -> list[str]:
    """Report the columns with durations; return the SQL of those that are converted to seconds."""
    seconds = []
    for column, kind in durations.items():
        if pa.types.is_duration(kind):
            _, per_second = _UNITS[kind.unit]
            named = identifier(column)
            seconds.append(f"{named} / {per_second} AS {named}")
            understood.columns[column] = DURATIONS
            understood.warn(f"{column}: {DURATIONS}.")
        else:
            words = sorted({_UNITS[unit][0] for unit in _duration.findall(str(kind))})
            understood.warn(f"{column}: durations in it are numbers of {listed(words)}.")
    return seconds
