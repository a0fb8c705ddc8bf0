"""The content of a database: all tables and views with their columns, as it names them.

PostgreSQL, MySQL and MariaDB are queried once for all tables, because a query per table would take
minutes for thousands of them; SQLAlchemy inspects the others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Inspector, inspect
from sqlalchemy.exc import SQLAlchemyError

from backend.data.tables import ColumnInfo, TableInfo

MAX_TABLES = 5_000

_POSTGRES = """
    SELECT t.nspname, t.relname, t.is_default, t.comment, a.attname,
        format_type(a.atttypid, a.atttypmod), coalesce(col_description(t.oid, a.attnum), '')
    FROM (
        SELECT c.oid, n.nspname, c.relname, n.nspname = current_schema() AS is_default,
            coalesce(obj_description(c.oid, 'pg_class'), '') AS comment, c.relispartition
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema'
            AND left(n.nspname, 3) <> 'pg_'
        ORDER BY 4 DESC NULLS LAST, c.relispartition, n.nspname, c.relname LIMIT {limit}
    ) t LEFT JOIN pg_catalog.pg_attribute a
        ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY t.is_default DESC NULLS LAST, t.relispartition, t.nspname, t.relname, a.attnum
"""
_MYSQL = """
    SELECT t.table_schema, t.table_name, coalesce(t.table_schema = database(), 0) AS is_default,
        CASE t.table_type WHEN 'BASE TABLE' THEN t.table_comment ELSE '' END,
        c.column_name, c.column_type, c.column_comment
    FROM (
        SELECT * FROM information_schema.tables WHERE table_schema NOT IN
            ('information_schema', 'mysql', 'performance_schema', 'sys')
        ORDER BY coalesce(table_schema = database(), 0) DESC, table_schema, table_name LIMIT {limit}
    ) t LEFT JOIN information_schema.columns c
        ON c.table_schema = t.table_schema AND c.table_name = t.table_name
    ORDER BY is_default DESC, t.table_schema, t.table_name, c.ordinal_position
"""
_QUESTIONS = {"postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL}


@dataclass(frozen=True)
class Catalog:
    """A source's tables, and a note about the list, such as where it was cut off."""

    tables: tuple[TableInfo, ...]
    note: str = ""


def read_catalog(connection: Connection) -> Catalog:
    """Return all tables and views with their columns; in other schemas, named schema.table."""
    question = _QUESTIONS.get(connection.dialect.name)
    if question is None:
        return _cut(_reflected(inspect(connection)))
    rows = connection.exec_driver_sql(question.format(limit=MAX_TABLES + 1)).fetchall()
    return _cut(_table(list(group)) for _, group in groupby(rows, lambda row: row[:2]))


def _cut(tables: Iterable[TableInfo]) -> Catalog:
    listed: list[TableInfo] = []
    for table in tables:
        if len(listed) == MAX_TABLES:
            note = (
                f"There are more tables than the {MAX_TABLES:,} listed here, and only these can be "
                "queried. A database user with access to fewer schemas would see all of theirs."
            )
            return Catalog(tuple(listed), note)
        listed.append(table)
    return Catalog(tuple(listed))


def _table(rows: Sequence[Sequence[Any]]) -> TableInfo:
    schema, name, is_default, comment = rows[0][:4]
    columns = tuple(ColumnInfo(*row[4:]) for row in rows if row[4] is not None)
    shown = name if is_default else f"{schema}.{name}"
    return TableInfo(shown, columns, comment=comment or "", path=(schema, name))


def _reflected(inspector: Inspector) -> Iterator[TableInfo]:
    default = inspector.default_schema_name
    for schema in [default, *(s for s in inspector.get_schema_names() if s != default)]:
        names = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
        for name in sorted(names):
            yield _reflect(inspector, schema, name, is_default=schema == default)


def _reflect(inspector: Inspector, schema: str | None, name: str, is_default: bool) -> TableInfo:
    shown = name if is_default else f"{schema}.{name}"
    path = (schema, name) if schema else (name,)
    try:
        columns = tuple(
            ColumnInfo(c["name"], str(c["type"]), str(c.get("comment") or ""))
            for c in inspector.get_columns(name, schema)
        )
    except SQLAlchemyError as error:  # one view may be broken without the others
        reason = " ".join(str(getattr(error, "orig", None) or error).split())[:200]
        return TableInfo(shown, (), comment=f"It cannot be read: {reason}", path=path)
    return TableInfo(shown, columns, path=path)
