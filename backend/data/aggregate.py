"""Builds the SELECT that sums a measure by keys, with names checked against the table. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from backend.data.errors import QueryFailed, did_you_mean
from backend.data.results import Scalar
from backend.data.tables import ColumnInfo, TableInfo

_TYPES_OF_TEXT = """
    char character varchar nchar nvarchar varchar2 nvarchar2 string enum set clob nclob json jsonb
    text tinytext mediumtext longtext blob tinyblob mediumblob longblob binary varbinary bytea
    date datetime time timestamp uuid
"""
_NOT_SUMMED = frozenset(_TYPES_OF_TEXT.split())  # MySQL would sum the digits at their beginning
_LONGEST_EXAMPLE = 40
_INSTEAD = "Choose a numeric column, or read the texts as numbers in a query with query_source."
Filters = Mapping[str, Scalar | Sequence[Scalar]]


@dataclass(frozen=True)
class Sums:
    """What to sum: a measure of a table by keys, over the rows that match the filters."""

    table: str
    keys: Sequence[str]
    measure: str
    filters: Filters = field(default_factory=dict)


def sum_by_keys(source: str, table: TableInfo, sums: Sums, dialect: str) -> str:
    """Return `SELECT keys, SUM(measure) … GROUP BY keys`.

    Raise QueryFailed for unknown columns, and for a measure whose type is not that of numbers;
    SQLite's types say nothing of the values, for which there is `count_texts`.
    """
    columns = [_column(name, table) for name in sums.keys]
    if dialect != "sqlite":
        _refuse_types(_known(sums.measure, table), table)
    total = exp.alias_(exp.Sum(this=_column(sums.measure, table)), "measure")
    query = exp.select(*columns, total).from_(_place(source, table, dialect))
    query = _filtered(query, table, sums).group_by(*(column.copy() for column in columns))
    return query.sql(dialect=dialect)


def count_texts(source: str, table: TableInfo, sums: Sums) -> str:
    """Return SQLite's SELECT of how many of the measure's cells are no numbers, and one of them.

    A text that is a plain number equals itself as a number (https://sqlite.org/datatype3.html,
    "Type Conversions Prior To Comparison"); any other is summed by the digits at its beginning.
    """
    measure = _column(sums.measure, table)
    kind = exp.func("TYPEOF", measure.copy(), dialect="sqlite")
    query = exp.select(exp.Count(this=exp.Star()), exp.Min(this=measure.copy()))
    query = query.from_(_place(source, table, "sqlite")).where(kind.isin("text", "blob"))
    query = query.where(measure.neq(exp.cast(measure.copy(), "REAL")))
    return _filtered(query, table, sums).sql(dialect="sqlite")


def refuse_texts(sums: Sums, count: int, example: object) -> None:
    """Raise QueryFailed if any of SQLite's cells to sum are no numbers."""
    if count:
        shown = repr(str(example)[:_LONGEST_EXAMPLE])
        raise QueryFailed(
            f"The measure {sums.measure!r} of {sums.table} cannot be summed: it is not a number in "
            f"{count:,} row{'s' if count > 1 else ''}, for example {shown}. {_INSTEAD}"
        )


def _refuse_types(measure: ColumnInfo, table: TableInfo) -> None:
    word = re.match(r"\w*", measure.type.lower())
    if word and word[0] in _NOT_SUMMED:
        raise QueryFailed(
            f"The measure {measure.name!r} of {table.name} cannot be summed: "
            f"its type is {measure.type}. {_INSTEAD}"
        )


def _place(source: str, table: TableInfo, dialect: str) -> exp.Table:
    if dialect == "duckdb":
        return exp.table_(table.name, db=source, quoted=True)
    *schema, bare = table.exact_name
    return exp.table_(bare, db=schema[0] if schema else None, quoted=True)


def _filtered(query: exp.Select, table: TableInfo, sums: Sums) -> exp.Select:
    for name, value in sums.filters.items():
        query = query.where(_condition(_column(name, table), value))
    return query


def _known(name: str, table: TableInfo) -> ColumnInfo:
    by_lower = {column.name.lower(): column for column in table.columns}
    if found := by_lower.get(name.lower()):
        return found
    names = [column.name for column in by_lower.values()]
    raise QueryFailed(
        f"{table.name} has no column {name!r}.{did_you_mean(name, names)} "
        f"Its columns are: {', '.join(names)}."
    )


def _column(name: str, table: TableInfo) -> exp.Column:
    return exp.column(_known(name, table).name, quoted=True)


def _condition(column: exp.Column, value: Scalar | Sequence[Scalar]) -> exp.Condition:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return column.isin(*(exp.convert(item) for item in value))
    if value is None:
        return column.is_(exp.null())
    return column.eq(exp.convert(value))
