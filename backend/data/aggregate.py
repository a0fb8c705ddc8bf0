"""Builds the SELECT that sums a measure by keys, with names checked against the table. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from backend.data.errors import QueryFailed, did_you_mean
from backend.data.results import Scalar
from backend.data.tables import TableInfo

Filters = Mapping[str, Scalar | Sequence[Scalar]]


@dataclass(frozen=True)
class Sums:
    """What to sum: a measure of a table by keys, over the rows that match the filters."""

    table: str
    keys: Sequence[str]
    measure: str
    filters: Filters = field(default_factory=dict)


def sum_by_keys(source: str, table: TableInfo, sums: Sums, dialect: str) -> str:
    """Return `SELECT keys, SUM(measure) … GROUP BY keys`. Raise QueryFailed for unknown columns."""
    *schema, bare = table.exact_name
    place = exp.table_(bare, db=schema[0] if schema else None, quoted=True)
    if dialect == "duckdb":
        place = exp.table_(table.name, db=source, quoted=True)
    columns = [_column(name, table) for name in sums.keys]
    total = exp.Sum(this=_column(sums.measure, table))
    query = exp.select(*columns, exp.alias_(total, "measure")).from_(place)
    for name, value in sums.filters.items():
        query = query.where(_condition(_column(name, table), value))
    return query.group_by(*(column.copy() for column in columns)).sql(dialect=dialect)


def _column(name: str, table: TableInfo) -> exp.Column:
    by_lower = {column.name.lower(): column.name for column in table.columns}
    exact = by_lower.get(name.lower())
    if exact is None:
        known = ", ".join(by_lower.values())
        hint = did_you_mean(name, by_lower.values())
        raise QueryFailed(f"{table.name} has no column {name!r}.{hint} Its columns are: {known}.")
    return exp.column(exact, quoted=True)


def _condition(column: exp.Column, value: Scalar | Sequence[Scalar]) -> exp.Condition:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return column.isin(*(exp.convert(item) for item in value))
    if value is None:
        return column.is_(exp.null())
    return column.eq(exp.convert(value))
