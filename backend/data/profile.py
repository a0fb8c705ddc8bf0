"""The content of a snapshot: tables, columns, their descriptions and ranges of values."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from backend.data.engines.local import attached
from backend.data.files.snapshots import UNDERSTOOD
from backend.data.reading.understood import Understood, load_understood
from backend.data.sql.quoting import identifier
from backend.data.tables import ColumnInfo, TableInfo

_AT_ONCE = 10  # columns per query: each needs memory, in every thread
_FEW_VALUES = 20
_MAX_VALUE_CHARS = 40


def list_tables(name: str, snapshot: Path) -> tuple[TableInfo, ...]:
    """Return all tables of a snapshot with their columns and row counts."""
    understood = load_understood(snapshot.with_name(UNDERSTOOD))
    with attached({name: snapshot}) as connection:
        tables = connection.execute(
            "SELECT table_name, comment FROM duckdb_tables() WHERE database_name = $1 "
            "UNION ALL SELECT view_name, comment FROM duckdb_views() "
            "WHERE database_name = $1 AND NOT internal ORDER BY 1",
            [name],
        ).fetchall()
        infos = [_table(connection, name, table, comment) for table, comment in tables]
        return tuple(_with_reading(info, understood.get(info.name)) for info in infos)


def profile_tables(name: str, snapshot: Path, tables: Sequence[TableInfo]) -> tuple[TableInfo, ...]:
    """Return the tables with their columns' values: all if few, otherwise smallest and largest."""
    with attached({name: snapshot}) as connection:
        return tuple(replace(table, columns=_profile(connection, name, table)) for table in tables)


def _profile(
    connection: duckdb.DuckDBPyConnection, name: str, table: TableInfo
) -> tuple[ColumnInfo, ...]:
    place = f"{identifier(name)}.{identifier(table.name)}"
    spans: dict[str, tuple[Any, ...]] = {}
    for start in range(0, len(table.columns), _AT_ONCE):
        some = table.columns[start : start + _AT_ONCE]
        columns = ", ".join(map(_measurable, some))
        summary = connection.sql(f"SUMMARIZE SELECT {columns} FROM {place}")  # noqa: S608 - names are quoted
        rows = summary.project("column_name, min, max, approx_unique, null_percentage").fetchall()
        spans |= {row[0]: row[1:] for row in rows}
    return tuple(
        replace(column, values=_values(connection, place, column.name, spans[column.name]))
        for column in table.columns
    )


def _measurable(column: ColumnInfo) -> str:
    """Return the SQL of a column as SUMMARIZE takes it: it fails for times with nanoseconds."""
    named = identifier(column.name)
    return f"{named}::VARCHAR AS {named}" if column.type == "TIME_NS" else named


def _table(
    connection: duckdb.DuckDBPyConnection, name: str, table: str, comment: str | None
) -> TableInfo:
    columns = connection.execute(
        "SELECT column_name, data_type, coalesce(comment, '') FROM duckdb_columns() "
        "WHERE database_name = ? AND table_name = ? ORDER BY column_index",
        [name, table],
    ).fetchall()
    relation = connection.sql(f"FROM {identifier(name)}.{identifier(table)}")
    ((count,),) = relation.aggregate("count(*)").fetchall()
    infos = tuple(ColumnInfo(*column) for column in columns)
    return TableInfo(table, infos, count, comment or "")


def _with_reading(table: TableInfo, understood: Understood | None) -> TableInfo:
    """Return the table with how its file was read; notes on columns become their meaning."""
    if understood is None:
        return table
    columns = tuple(
        replace(
            column,
            comment=column.comment or understood.columns.get(column.name, ""),
            format=understood.formats.get(column.name, ""),
        )
        for column in table.columns
    )
    form, warnings = tuple(understood.form), tuple(understood.warnings)
    facts = understood.facts
    return replace(table, columns=columns, understood=form, warnings=warnings, facts=facts)


def _values(
    connection: duckdb.DuckDBPyConnection, place: str, column: str, span: tuple[Any, ...]
) -> str:
    smallest, largest, distinct, empty = span
    note = f"; {min(float(empty), 99):.0f} % empty" if empty and float(empty) >= 1 else ""
    if smallest is None:
        return "all empty"
    if distinct <= _FEW_VALUES:
        texts = connection.sql(f"FROM {place}").project(f"{identifier(column)}::VARCHAR AS text")
        values = texts.distinct().fetchall()
        rows = sorted((row for row in values if row[0] is not None), key=_natural)
        return ", ".join(_short(value) for (value,) in rows[:_FEW_VALUES]) + note
    return f"{_short(smallest)} … {_short(largest)}{note}"


def _natural(row: tuple[str]) -> tuple[float, str]:
    """Return a sort key: numbers by size, then texts."""
    try:
        return float(row[0]), ""
    except ValueError:
        return float("inf"), row[0]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"
