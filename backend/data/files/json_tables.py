"""Fills a table from a JSON file; whole numbers that a column cannot hold exactly stay text.

This happens in a child of the sandbox, because files are not trusted.
"""

import re
from pathlib import Path

import duckdb

from backend.data.errors import SourceUnusable
from backend.data.reading.delimited import check_width
from backend.data.reading.understood import Understood
from backend.data.sql.quoting import identifier, literal

_LARGEST_OBJECT = 16_000_000  # bytes of one JSON value
_BARE = ["json"]  # the column of values that are no objects
_ANY_ROWS = f"read_json(?, maximum_object_size = {_LARGEST_OBJECT}, sample_size = -1)"
_ROWS = f"read_json(?, maximum_object_size = {_LARGEST_OBJECT}, columns = {{columns}})"


def read_json(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> Understood:
    """Create the table of a JSON file; return how it was read. Raise SourceUnusable."""
    understood = Understood(["JSON"])
    try:
        found = connection.sql(f"FROM {_ANY_ROWS}", params=[str(path)])
        check_width(len(found.columns))
        types = dict(zip(found.columns, map(str, found.types), strict=True))
        rows = _ANY_ROWS
        if exact := _columns_to_keep_exact(connection, path, types):
            rows = _rows(types | dict.fromkeys(exact, "VARCHAR"))
        connection.execute(f'CREATE TABLE "{name}" AS FROM {rows}', [str(path)])
    except (duckdb.InvalidInputException, duckdb.BinderException):
        raise SourceUnusable(
            "The file is not JSON with a table: an array of objects, or one object per line, each "
            "of 16 MB at most."
        ) from None
    for column in exact:
        understood.warn(f"{column}: stays text: it has numbers too large to be held exactly.")
    return understood


def _columns_to_keep_exact(
    connection: duckdb.DuckDBPyConnection, path: Path, types: dict[str, str]
) -> list[str]:
    """Return the columns whose numbers would lose digits, or be infinite, as floats."""
    floats = [column for column, kind in types.items() if "DOUBLE" in kind]
    if not floats or list(types) == _BARE or _has_renamed(list(types)):
        return []
    losses = [_loses_digits(c) if types[c] == "DOUBLE" else _has_long_number(c) for c in floats]
    tests = ", ".join(f"coalesce(bool_or({loses}), false)" for loses in losses)
    rows = _rows(types | dict.fromkeys(floats, "VARCHAR"))
    query = f"SELECT {tests} FROM {rows}"  # noqa: S608  (names and types, quoted)
    found = connection.execute(query, [str(path)]).fetchone()
    return [column for column, loses in zip(floats, found or (), strict=True) if loses]


def _loses_digits(column: str) -> str:
    text = identifier(column)
    value = f"TRY_CAST({text} AS DOUBLE)"
    is_whole = f"regexp_full_match({text}, '-?[0-9]{{16,}}')"
    same = f"TRY_CAST({value} AS HUGEINT)::VARCHAR = {text}"
    loses = f"isinf({value}) OR ({is_whole} AND NOT coalesce({same}, false))"
    return f"{text} IS NOT NULL AND coalesce({loses}, true)"


def _has_long_number(column: str) -> str:
    """Return the test of objects or arrays, as JSON, for numbers that a float may not hold."""
    number = "-?([0-9]{16,}|[0-9.]+[eE][+]?[0-9]{3,})"
    return f"regexp_matches({identifier(column)}, '[\\[:,]\\s*{number}')"


def _has_renamed(names: list[str]) -> bool:
    """Return whether columns are named otherwise than in the file: those that differ in case."""
    lower = {name.lower() for name in names}
    return any(re.sub(r"_\d+$", "", name) in lower - {name} for name in lower)


def _rows(types: dict[str, str]) -> str:
    """Return the relation of the file's rows with columns of these types."""
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
    return _ROWS.format(columns=f"{{{columns}}}")
