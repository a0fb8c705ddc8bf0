"""Queries over snapshots in a DuckDB that can neither write nor reach any file.

Three barriers: the snapshots are attached READ_ONLY; the file system is disabled and the settings
are locked before the query's text is read; and the query runs in a READ ONLY transaction. The
second is needed besides the first, because DuckDB lets COPY overwrite an attached database's file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
from duckdb.sqltypes import DuckDBPyType

from backend.data.engines.cells import exact, values
from backend.data.errors import QueryFailed, QueryRefused
from backend.data.results import Column, Limits, Table, collect
from backend.data.sql.names import how_to_write, written
from backend.data.sql.quoting import identifier, literal
from backend.data.zones import ZONE

MEMORY_LIMIT = "180MB"  # a child of the sandbox may use 300 MB in total
THREADS = 2
_OWN: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": MEMORY_LIMIT,
    "threads": THREADS,
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_ROWS_PER_BATCH = 2048
_LONGEST_MESSAGE = 20_000
_PICTURE = re.compile(r"\n *LINE \d{1,9}:")  # an excerpt of the query, below the message

T = TypeVar("T")
# The order matters: nothing can be set once the settings are locked.
_SEAL = (
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
    "BEGIN TRANSACTION READ ONLY",
)


@cache
def function_names() -> frozenset[str]:
    """Return the names of DuckDB's functions that only compute, without table functions."""
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT DISTINCT lower(function_name) FROM duckdb_functions() "
            "WHERE function_type IN ('scalar', 'aggregate', 'macro')"
        ).fetchall()
    return frozenset(name for (name,) in rows)


def run_query(default: str, snapshots: Mapping[str, Path], sql: str, limits: Limits) -> Table:
    """Return the result of one SELECT; unqualified names are those of `default`."""
    return ask(default, snapshots, sql, lambda relation: fetch(relation, limits))


def ask(
    default: str,
    snapshots: Mapping[str, Path],
    sql: str,
    take: Callable[[duckdb.DuckDBPyRelation], T],
) -> T:
    """Return what `take` makes of the result of one SELECT over the snapshots."""
    with sealed(default, snapshots) as connection:
        try:
            _check_statement(connection, sql)
            return take(connection.sql(sql))
        except duckdb.Error as error:
            raise QueryFailed(_explain(connection, str(error))) from None


@contextmanager
def own_connection(place: str = ":memory:", **settings: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a connection for our own statements; instants are in one zone, not the server's."""
    with duckdb.connect(place, config=_OWN | settings) as connection:
        connection.execute(f"SET TimeZone = {literal(ZONE)}")
        yield connection


@contextmanager
def attached(snapshots: Mapping[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a connection with the snapshots attached READ_ONLY, for our own queries."""
    with own_connection() as connection:
        for name, path in snapshots.items():
            place = literal(str(path))
            connection.execute(f"ATTACH {place} AS {identifier(name)} (READ_ONLY)")
        yield connection


@contextmanager
def sealed(default: str, snapshots: Mapping[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a connection that can only read, whatever statement it is given."""
    with attached(snapshots) as connection:
        connection.execute(f'USE "{default}"')
        for statement in _SEAL:
            connection.execute(statement)
        yield connection


def _check_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Check that the engine's own parser also finds a single SELECT."""
    types = [statement.type for statement in connection.extract_statements(sql)]
    if types != [duckdb.StatementType.SELECT]:
        raise QueryRefused("Only one SELECT is allowed: the sources are read-only.")


def fetch(relation: duckdb.DuckDBPyRelation, limits: Limits) -> Table:
    """Return the rows of a relation, up to limits."""
    pairs = zip(relation.columns, relation.types, strict=True)
    columns = [Column(name, str(kind)) for name, kind in pairs]
    return collect(columns, fetch_batches(relation), limits)


def fetch_batches(relation: duckdb.DuckDBPyRelation) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the rows of a relation in batches, as Python values without loss."""
    kinds = relation.types
    for batch in exact(relation).to_arrow_reader(_ROWS_PER_BATCH):
        yield _rows(batch, kinds)


def _rows(batch: pa.RecordBatch, kinds: Sequence[DuckDBPyType]) -> Iterator[tuple[Any, ...]]:
    return zip(*map(values, batch.columns, kinds), strict=True)


def _explain(connection: duckdb.DuckDBPyConnection, message: str) -> str:
    """Return the engine's message without its excerpt; list the columns if one is unknown."""
    text = " ".join(_PICTURE.split(message[:_LONGEST_MESSAGE], maxsplit=1)[0].split())
    if "Out of Memory" in text:
        return f"The query needs more than {MEMORY_LIMIT}. Filter or aggregate before joining."
    wrong = re.search(r'[Cc]olumn (?:named )?"([^"]+)"', text)
    if not wrong:
        return text[:600]
    connection.execute("ROLLBACK")
    rows = connection.execute(
        "SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    known = sorted(written([name], "duckdb") for (name,) in rows)
    listed = ", ".join(known[:60])
    more = f", and {len(known) - 60:,} more: describe_source lists them" if known[60:] else ""
    hint = how_to_write(wrong[1], known)
    return f"{text[:400]}{hint} Columns that exist: {listed}{more}."
