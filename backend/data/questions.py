"""What a child of the sandbox does to answer a query: parse it, check it, run it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from duckdb import DuckDBPyRelation
from sqlglot import exp

from backend.data.aggregate import Sums, count_texts, refuse_texts, sum_by_keys
from backend.data.engines.catalogs import Catalog
from backend.data.engines.databases import Database
from backend.data.engines.local import ask, function_names, run_query
from backend.data.errors import UnknownSource, did_you_mean
from backend.data.files.parquet import Written, write_relation, write_rows
from backend.data.results import Column, Limits, Table
from backend.data.sql.guard import QueryScope, check_query, referenced_tables
from backend.data.sql.names import plain, written
from backend.data.sql.result_formats import formats_by_path, result_formats
from backend.data.tables import TableInfo

Question = str | Sums
_MOST_LISTED = 40


@dataclass(frozen=True)
class Snapshot:
    """A source that a query may read: its tables, and the path of its copy."""

    name: str
    tables: tuple[TableInfo, ...]
    path: Path


def query_snapshots(
    default: Snapshot, others: Sequence[Snapshot], question: Question, limits: Limits
) -> Table:
    """Return the result of a query; unprefixed tables belong to `default`, others to `others`."""
    sql = _as_sql(question, default.name, default.tables, "duckdb")
    checked = _checked(default, others, sql)
    table = run_query(default.name, _places(default, others, checked), sql, limits)
    return table.written_as(_formats(default, others, checked, table.columns))


def write_snapshots(
    default: Snapshot, others: Sequence[Snapshot], sql: str, place: Path
) -> Written:
    """Write the complete result of a SELECT as Parquet."""
    checked = _checked(default, others, sql)

    def write(relation: DuckDBPyRelation) -> Written:
        columns = [Column(name, "") for name in relation.columns]
        return write_relation(relation, place, _formats(default, others, checked, columns))

    return ask(default.name, _places(default, others, checked), sql, write)


def write_database(
    name: str, url: str, tables: tuple[TableInfo, ...], sql: str, place: Path, limits: Limits
) -> Written:
    """Write the result of one SELECT over a database as Parquet."""
    return write_rows(query_database(name, url, tables, sql, limits), place)


def _checked(default: Snapshot, others: Sequence[Snapshot], sql: str) -> exp.Expr:
    """Return the parsed query. Raise QueryRefused."""
    paths = frozenset(_paths(default, (default, *others)))
    return check_query(sql, QueryScope("duckdb", paths, function_names(), True))


def _formats(
    default: Snapshot, others: Sequence[Snapshot], query: exp.Expr, columns: Sequence[Column]
) -> list[str]:
    """Return how the numbers of a result's columns are written."""
    known = dict(formats_by_path(default.tables, [()]))
    for one in (default, *others):
        known |= formats_by_path(one.tables, [(one.name.lower(),), (one.name.lower(), "main")])
    return result_formats(query, known, [column.name for column in columns])


def _places(default: Snapshot, others: Sequence[Snapshot], checked: exp.Expr) -> Mapping[str, Path]:
    """Return the paths of the sources that a query names."""
    every = (default, *others)
    used = {default.name, *(path[0] for path in referenced_tables(checked))}
    return {s.name: s.path for s in every if s.name in used}


def query_database(
    name: str, url: str, tables: tuple[TableInfo, ...], question: Question, limits: Limits
) -> Table:
    """Return the result of a query over a database, in its own dialect."""
    database = Database(url)
    if isinstance(question, Sums) and database.dialect == "sqlite":
        _check_sums(database, name, tables, question, limits)
    sql = _as_sql(question, name, tables, database.dialect)
    return database.query(sql, tables, limits)


def reflect_database(url: str) -> tuple[Catalog, str]:
    """Return all tables of a database, and its SQL dialect."""
    database = Database(url)
    return database.read_catalog(), database.dialect


def choose_table(
    source: str, tables: Sequence[TableInfo], name: str, dialect: str = "duckdb"
) -> TableInfo:
    """Return the table of this name, quoted or not, with or without the source as prefix."""
    bare = plain(name).removeprefix(f"{source}.")
    exact = [table for table in tables if table.name == name.replace('"', "")]
    for table in (*exact, *tables):
        if bare in (table.name.lower(), ".".join(table.path).lower()):
            return table
    known = [written(table.exact_name, dialect) for table in tables]
    hint = did_you_mean(bare, known)
    more = f", and {len(known) - _MOST_LISTED:,} more" if len(known) > _MOST_LISTED else ""
    raise UnknownSource(
        f"{source} has no table {name!r}.{hint} "
        f"Its tables are: {', '.join(known[:_MOST_LISTED])}{more}."
    )


def _as_sql(question: Question, name: str, tables: Sequence[TableInfo], dialect: str) -> str:
    if isinstance(question, str):
        return question
    return sum_by_keys(name, choose_table(name, tables, question.table, dialect), question, dialect)


def _check_sums(
    database: Database, name: str, tables: tuple[TableInfo, ...], sums: Sums, limits: Limits
) -> None:
    """Raise QueryFailed if SQLite would sum texts by the digits at their beginning."""
    table = choose_table(name, tables, sums.table, database.dialect)
    counted = database.query(count_texts(name, table, sums), tables, Limits(seconds=limits.seconds))
    ((count, example),) = counted.rows
    refuse_texts(sums, int(count or 0), example)


def _paths(default: Snapshot, every: Sequence[Snapshot]) -> Iterator[tuple[str, ...]]:
    """Yield all ways in which a query may write the tables' names."""
    for table in default.tables:
        yield (table.name.lower(),)
    for snapshot in every:
        for table in snapshot.tables:
            yield (snapshot.name, table.name.lower())
            yield (snapshot.name, "main", table.name.lower())
