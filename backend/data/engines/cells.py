"""Takes values out of DuckDB without loss: what Arrow or Python cannot hold becomes text.

Python has no year after 9999 and no infinite date, Arrow no integer beyond 128 signed bits; both
silently change such values. So DuckDB itself writes them as text.
"""

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.sqltypes import DuckDBPyType

from backend.data.results import MAX_CELL_CHARS, short_time
from backend.data.sql.quoting import identifier

# What Arrow and Python hold exactly, by DuckDB's type ids.
_EXACT_WORDS = """
    boolean tinyint smallint integer bigint utinyint usmallint uinteger ubigint hugeint double
    decimal varchar blob enum null
"""
_EXACT = frozenset(_EXACT_WORDS.split())
# What is parsed from DuckDB's text; a FLOAT from its short form, 0.1 and not 0.10000000149011612.
_READ: dict[str, Callable[[str], Any]] = {
    "hugeint": int,
    "uhugeint": int,
    "bignum": int,
    "float": float,
    "timestamp": short_time,
    "timestamp_s": short_time,
    "timestamp_ms": short_time,
    "timestamp_ns": short_time,
    "timestamp with time zone": short_time,
    "time": short_time,
    "time_ns": short_time,
    "time with time zone": short_time,
}


def exact(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return the relation with each column cast to a type that is exact outside DuckDB."""
    places = [_place(number, kind) for number, kind in enumerate(relation.types, 1)]
    return relation.project(", ".join(places))


def values(column: pa.Array, kind: DuckDBPyType) -> list[Any]:
    """Return the cells of a column of `exact`, originally of type `kind`, as Python values."""
    if pa.types.is_string(column.type) and column.nbytes > MAX_CELL_CHARS:
        # Cut before Python holds them: a cell may be as large as memory.
        column = pc.utf8_slice_codeunits(column, 0, MAX_CELL_CHARS + 1)
    cells: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    read = _READ.get(kind.id)
    return cells if read is None else [None if cell is None else read(cell) for cell in cells]


def _place(number: int, kind: DuckDBPyType) -> str:
    leaves_as = "VARCHAR" if kind.id in _READ else _exact_type(kind)
    return f"#{number}" if leaves_as == str(kind) else f"CAST(#{number} AS {leaves_as})"


def _exact_type(kind: DuckDBPyType) -> str:
    """Return the type with VARCHAR in place of the parts that must become text."""
    if kind.id not in ("list", "array", "struct", "map"):
        return str(kind) if kind.id in _EXACT else "VARCHAR"
    # An array's size is one of its children, which otherwise are types.
    parts = {n: _exact_type(part) for n, part in kind.children if isinstance(part, DuckDBPyType)}
    if kind.id == "struct":
        return f"STRUCT({', '.join(f'{identifier(name)} {part}' for name, part in parts.items())})"
    if kind.id == "map":
        return f"MAP({', '.join(parts.values())})"
    return f"{parts['child']}[]"
