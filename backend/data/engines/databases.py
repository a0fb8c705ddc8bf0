"""Databases by SQLAlchemy URL, read in transactions that the database itself keeps read-only."""

import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, CursorResult, Engine, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from backend.data.engines.catalogs import Catalog, read_catalog
from backend.data.engines.drivers import (
    POSTGRES_FORMS,
    keep_postgres_texts,
    leave_unread,
    mysql_conversions,
    time_type,
)
from backend.data.engines.verbatim import verbatim
from backend.data.errors import QueryFailed, SourceUnusable
from backend.data.results import Column, Limits, Table, collect
from backend.data.sql.guard import QueryScope, check_query
from backend.data.sql.names import how_to_write, written
from backend.data.sql.result_formats import formats_by_path, result_formats
from backend.data.tables import TableInfo
from backend.sandbox.child import on_stop

_CONNECT_SECONDS = 5
_ROWS_PER_BATCH = 1000
_LARGEST_VALUE = 50_000_000  # bytes of one value that SQLite may make


@dataclass(frozen=True)
class ReadOnlyAccess:
    """How to open one kind of database so that it refuses writes and enforces a time limit.

    `begin` runs before the query; `{milliseconds}` and `{seconds}` are the time limit.
    """

    dialect: str
    begin: tuple[str, ...] = ()
    connect_args: tuple[tuple[str, Any], ...] = ()


_CONNECT_TIMEOUT = (("connect_timeout", _CONNECT_SECONDS),)
_MYSQL = (*_CONNECT_TIMEOUT, ("conv", mysql_conversions()))
_MYSQL_ZONE = "SET SESSION time_zone = '+00:00'"
_READ_ONLY_ACCESS = {
    "postgresql": ReadOnlyAccess(
        "postgres",
        (
            "SET TRANSACTION READ ONLY",
            "SET LOCAL statement_timeout = {milliseconds}",
            "SET LOCAL lock_timeout = {milliseconds}",
            # Not on every server: it ends a query whose client has disconnected.
            "SELECT set_config(name, '1s', true) FROM pg_settings "
            "WHERE name = 'client_connection_check_interval'",
            "SET LOCAL standard_conforming_strings = on",
            "SET LOCAL timezone = 'UTC'",
            *POSTGRES_FORMS,
        ),
        (
            *_CONNECT_TIMEOUT,
            ("keepalives_idle", 5),
            ("keepalives_interval", 2),
            ("keepalives_count", 3),
            ("tcp_user_timeout", 10_000),
        ),
    ),
    "sqlite": ReadOnlyAccess("sqlite"),
    "mysql": ReadOnlyAccess(
        "mysql",
        (
            "SET SESSION max_execution_time = {milliseconds}",
            _MYSQL_ZONE,
            "START TRANSACTION READ ONLY",
        ),
        _MYSQL,
    ),
    "mariadb": ReadOnlyAccess(
        "mysql",
        (
            "SET SESSION max_statement_time = {seconds}",
            _MYSQL_ZONE,
            "START TRANSACTION READ ONLY",
        ),
        _MYSQL,
    ),
    "oracle": ReadOnlyAccess(
        "oracle", ("ALTER SESSION SET TIME_ZONE = '+00:00'", "SET TRANSACTION READ ONLY")
    ),
}
# The drivers that are installed; they are used whichever driver a URL names.
_DRIVERS = {
    "postgres": "postgresql+psycopg2",
    "postgresql": "postgresql+psycopg2",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
# A name that is too long is another name: PostgreSQL cuts it, as the cast does.
_FUNCTIONS = """
    SELECT written FROM unnest(CAST(:names AS text[])) AS written
    WHERE EXISTS (
        SELECT FROM pg_catalog.pg_proc
        WHERE proname = CAST(written AS name)
            AND (provolatile <> 'i' OR pronamespace <> 'pg_catalog'::regnamespace)
    )
"""
_UNKNOWN_NAME = re.compile(r"(?:column|relation|table):? [\"'`]?([\w.]+)", re.IGNORECASE)

_SQLITE_ALLOWED = frozenset(
    (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
)


class _SqliteConnection(sqlite3.Connection):
    """A SQLite connection that keeps SQLite's own functions where they exist."""

    def create_function(self, name: str, *arguments: Any, **options: Any) -> None:
        """Add a function, except `floor`: SQLAlchemy's version returns integers for fractions."""
        if name == "floor":
            with suppress(sqlite3.OperationalError):
                self.execute("SELECT floor(1.5)")
                return
        super().create_function(name, *arguments, **options)


class Database:
    """An external database as a source."""

    def __init__(self, url: str) -> None:
        """Raise SourceUnusable if the URL is invalid, or cannot be opened read-only."""
        self._url = _parse_url(url)
        self.kind = self._url.get_backend_name()
        if self.kind not in _READ_ONLY_ACCESS:
            raise SourceUnusable(
                f"Colloquy has no way to open {self.kind} read-only, so it does not open it. "
                f"It can open {', '.join(_READ_ONLY_ACCESS)}."
            )
        self._access = _READ_ONLY_ACCESS[self.kind]
        self.dialect = self._access.dialect

    def read_catalog(self) -> Catalog:
        """Return all tables and views with their columns; in other schemas, named schema.table."""
        with self.open(Limits()) as connection:
            return read_catalog(connection)

    def query(self, sql: str, tables: Sequence[TableInfo], limits: Limits) -> Table:
        """Return the result of one SELECT."""
        with self.open(limits, sealed=True) as connection:
            try:
                checked = check_query(sql, self._query_scope(tables, connection))
                table = _fetch(connection, verbatim(sql, checked, self.dialect), limits)
            except SQLAlchemyError as error:
                raise QueryFailed(self._explain(error, tables)) from None
        known = formats_by_path(tables, [()])  # a database has none, but counts have their own
        return table.written_as(result_formats(checked, known, [c.name for c in table.columns]))

    def _query_scope(self, tables: Sequence[TableInfo], connection: Connection) -> QueryScope:
        columns: dict[tuple[str, ...], frozenset[str]] = {}
        for table in tables:
            names = frozenset(column.name for column in table.columns)
            for path in filter(None, (table.exact_name, table.path)):
                key = tuple(part.lower() for part in path)
                columns[key] = columns.get(key, names) & names
        return QueryScope(
            self.dialect,
            frozenset(columns),
            shown=tuple(written(table.exact_name, self.dialect) for table in tables),
            columns=columns,
            functions_among=partial(_functions_among, connection),
        )

    @contextmanager
    def open(self, limits: Limits, sealed: bool = False) -> Iterator[Connection]:
        """Provide a connection that can only read. Raise SourceUnusable."""
        try:
            engine = self._engine()
            with engine.connect() as connection:
                driver = connection.connection.dbapi_connection
                if self.kind == "postgresql":
                    keep_postgres_texts(driver)
                for statement in _access_of(connection, self._access).begin:
                    connection.exec_driver_sql(
                        statement.format(
                            milliseconds=int(limits.seconds * 1000), seconds=limits.seconds
                        )
                    )
                if sealed and isinstance(driver, sqlite3.Connection):
                    _seal_sqlite(driver)
                with on_stop(_cancel_of(engine, driver)):
                    yield connection
        except SQLAlchemyError as error:
            raise SourceUnusable(self._explain(error, ())) from None
        except ImportError as error:
            raise SourceUnusable(
                f"The driver {error.name} is not installed. Install it with pip beside Colloquy, "
                "or take the source out of SOURCE_URLS."
            ) from None

    def _engine(self) -> Engine:
        if self.kind == "sqlite":
            return create_engine("sqlite://", creator=self._open_sqlite, poolclass=NullPool)
        return create_engine(
            self._url, connect_args=dict(self._access.connect_args), poolclass=NullPool
        )

    def _open_sqlite(self) -> sqlite3.Connection:
        path = Path(self._url.database or "")
        if not path.is_file():
            raise SourceUnusable("The database's file does not exist.")
        place = f"file:{quote(str(path.absolute()))}?mode=ro"
        options: dict[str, Any] = {"uri": True, "check_same_thread": False, "timeout": 5}
        connection = sqlite3.connect(place, factory=_SqliteConnection, **options)
        connection.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _explain(self, error: SQLAlchemyError, tables: Sequence[TableInfo]) -> str:
        """Return the driver's own message, without SQLAlchemy's additions and the password."""
        text = _words(getattr(error, "orig", None) or error)
        if self._url.password:
            text = text.replace(str(self._url.password), "***")
        wrong = _UNKNOWN_NAME.search(text)
        if not wrong:
            return text
        names = [written(table.exact_name, self.dialect) for table in tables]
        columns = {column.name for table in tables for column in table.columns}
        names += [written([name], self.dialect) for name in sorted(columns)]
        return text + how_to_write(wrong[1], names)


def _functions_among(connection: Connection, names: Collection[str]) -> frozenset[str]:
    """Return which names the server has functions of, except its own that only compute."""
    if not names or connection.dialect.name != "postgresql":
        return frozenset()
    rows = connection.execute(text(_FUNCTIONS), {"names": sorted(names)})
    return frozenset(rows.scalars())


def _words(error: Any) -> str:
    """Return the driver's message without its excerpt of the query and the error's number."""
    diagnostics = getattr(error, "diag", None)
    if diagnostics is not None and diagnostics.message_primary:
        text = f"{diagnostics.message_primary}. {diagnostics.message_hint or ''}"
    elif len(error.args) == 2 and isinstance(error.args[0], int):
        text = f"{str(error.args[1]).rstrip('.')}."
    else:
        text = f"{str(error).rstrip('.')}."
    return " ".join(text.split())[:500]


def _parse_url(text: str) -> URL:
    try:
        url = make_url(text)
    except SQLAlchemyError:
        raise SourceUnusable("The URL is not one that SQLAlchemy can read.") from None
    return url.set(drivername=_DRIVERS.get(url.get_backend_name(), url.drivername))


def _access_of(connection: Connection, access: ReadOnlyAccess) -> ReadOnlyAccess:
    """Return MariaDB's settings, even if its URL says mysql."""
    return (
        _READ_ONLY_ACCESS["mariadb"] if getattr(connection.dialect, "is_mariadb", False) else access
    )


def _fetch(connection: Connection, sql: str, limits: Limits) -> Table:
    options = {"stream_results": True, "no_parameters": True, "max_row_buffer": _ROWS_PER_BATCH}
    result = connection.execution_options(**options).exec_driver_sql(sql)
    batches = (list(map(tuple, part)) for part in result.partitions(_ROWS_PER_BATCH))
    kind = connection.dialect.name
    columns = [Column(name, time_type(kind, number)) for name, number, *_ in _described(result)]
    table = collect(columns, batches, limits)
    if table.complete:
        result.close()
    else:
        leave_unread(result.cursor)  # MySQL's driver would read all remaining rows first
        connection.invalidate()
    return Table(_typed(table), table.rows, table.cut_by)


def _described(result: CursorResult[Any]) -> Sequence[Any]:
    return () if result.cursor is None else result.cursor.description


def _typed(table: Table) -> tuple[Column, ...]:
    """Return columns with types taken from the values, except those of days and times."""
    types = []
    for index, column in enumerate(table.columns):
        kinds = {type(row[index]).__name__ for row in table.rows if row[index] is not None}
        name = {"int": "INTEGER", "float": "DOUBLE", "bool": "BOOLEAN"}.get(min(kinds, default=""))
        mixed = len(kinds) > 1 and kinds != {"int", "float"}
        found = "VARCHAR" if mixed or not name else name
        types.append(Column(column.name, column.type or found))
    return tuple(types)


def _cancel_of(engine: Engine, driver: Any) -> Callable[[], object]:
    """Return a function that tells the server to stop the running statement."""
    if hasattr(driver, "thread_id"):
        return partial(_kill_query, engine, driver.thread_id())
    cancel: Callable[[], object] = getattr(driver, "cancel", lambda: None)
    return cancel


def _kill_query(engine: Engine, number: int) -> None:
    """Stop a statement of MySQL or MariaDB, which do not notice that their client is gone."""
    other = engine.raw_connection()
    other.cursor().execute(f"KILL QUERY {int(number)}")


def _seal_sqlite(driver: sqlite3.Connection) -> None:
    for question in ("SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')"):
        with suppress(sqlite3.OperationalError):  # SQLite may be compiled without them
            driver.execute(question)  # creates the virtual table, which is refused from now on
    driver.set_authorizer(_authorize_sqlite)


def _authorize_sqlite(action: int, first: str | None, second: str | None, *_: object) -> int:
    """SQLite's authorizer: permit reading and computing, refuse everything else."""
    loads = action == sqlite3.SQLITE_FUNCTION and second == "load_extension"
    return sqlite3.SQLITE_OK if action in _SQLITE_ALLOWED and not loads else sqlite3.SQLITE_DENY
