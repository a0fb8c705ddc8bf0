"""What a child of the sandbox does to answer one question: parse it, check it, run it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.data.aggregate import Sums, sum_by_keys
from backend.data.databases import Database
from backend.data.errors import UnknownSource, did_you_mean
from backend.data.guard import Surroundings, check_query, referenced_tables
from backend.data.local import function_names, run_query
from backend.data.profile import TableInfo
from backend.data.results import Limits, Table

Question = str | Sums


@dataclass(frozen=True)
class Snapshot:
    """A source that a query may read: its tables and where its copy is."""

    name: str
    tables: tuple[TableInfo, ...]
    path: Path


def query_snapshots(
    default: Snapshot, others: Sequence[Snapshot], question: Question, limits: Limits
) -> Table:
    """The result of one question over `default`, whose tables need no prefix, and `others`."""
    sql = _as_sql(question, default.name, default.tables, "duckdb")
    every = (default, *others)
    paths = frozenset(_paths(default, every))
    checked = check_query(sql, Surroundings("duckdb", paths, function_names(), True))
    used = {default.name, *(path[0] for path in referenced_tables(checked))}
    places: Mapping[str, Path] = {s.name: s.path for s in every if s.name in used}
    return run_query(default.name, places, sql, limits)


def query_database(
    name: str, url: str, tables: tuple[TableInfo, ...], question: Question, limits: Limits
) -> Table:
    """The result of one question over a database, in its own dialect."""
    database = Database(url)
    return database.query(_as_sql(question, name, tables, database.dialect), tables, limits)


def reflect_database(url: str) -> tuple[TableInfo, ...]:
    """All tables of a database."""
    return Database(url).list_tables()


def choose_table(source: str, tables: Sequence[TableInfo], name: str) -> TableInfo:
    """The table by its name, with or without the source's in front of it."""
    bare = name.replace('"', "").lower().removeprefix(f"{source}.")
    for table in tables:
        if table.name.lower() == bare:
            return table
    known = [table.name for table in tables]
    hint = did_you_mean(bare, known)
    raise UnknownSource(
        f"{source} has no table {name!r}.{hint} Its tables are: {', '.join(known)}."
    )


def _as_sql(question: Question, name: str, tables: Sequence[TableInfo], dialect: str) -> str:
    if isinstance(question, str):
        return question
    return sum_by_keys(name, choose_table(name, tables, question.table), question, dialect)


def _paths(default: Snapshot, every: Sequence[Snapshot]) -> Iterator[tuple[str, ...]]:
    """All ways in which a query may write the tables' names."""
    for table in default.tables:
        yield (table.name.lower(),)
    for snapshot in every:
        for table in snapshot.tables:
            yield (snapshot.name, table.name.lower())
            yield (snapshot.name, "main", table.name.lower())
