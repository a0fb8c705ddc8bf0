"""How the numbers of a query's result are written: by its expressions and the columns they keep.

A format is kept by what keeps the measure: the column itself, its sum, average, smallest or
largest value, and the like. A count is a whole number, whatever it is named; a ratio of two
measures is neither. Of any other expression nothing is said. Pure, over the parsed query.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from backend.data.tables import TableInfo
from backend.tabular.number_formats import GENERAL, WHOLE, parse_format

Known = Mapping[str, str]  # formats by column, in lower case
Tables = Mapping[tuple[str, ...], Known]
_Columns = list[tuple[str, str]]  # the name and format of each

_KEEPING = (
    exp.Sum, exp.Min, exp.Max, exp.First, exp.Last, exp.AnyValue, exp.FirstValue, exp.LastValue,
    exp.Lag, exp.Lead, exp.Abs, exp.Neg, exp.Round, exp.Floor, exp.Ceil, exp.Paren, exp.Alias,
    exp.Window, exp.Filter, exp.Distinct, exp.IgnoreNulls, exp.ArgMax, exp.ArgMin,
)  # fmt: skip
_AVERAGING = (exp.Avg, exp.Median, exp.Quantile, exp.PercentileCont, exp.Stddev)
_COUNTING = (
    exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile,
)  # fmt: skip
_CHOOSING = (exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Case, exp.If)


def formats_by_path(tables: Iterable[TableInfo], prefixes: Sequence[tuple[str, ...]]) -> Tables:
    """Return the formats of tables' columns by the ways in which a query may name the tables."""
    return {
        (*prefix, *(part.lower() for part in table.exact_name)): {
            column.name.lower(): column.format for column in table.columns
        }
        for table in tables
        for prefix in prefixes
    }


def result_formats(query: exp.Expr, tables: Tables, names: Sequence[str]) -> list[str]:
    """Return the format of each column of a query's result; empty where none is known."""
    columns = _columns_of(query, _Scope(tables, {})) or []
    if len(columns) == len(names):
        return [format_ for _, format_ in columns]
    by_name: dict[str, set[str]] = {}
    for name, format_ in columns:
        by_name.setdefault(name, set()).add(format_)
    found = [by_name.get(name.lower(), set()) for name in names]
    return [next(iter(one)) if len(one) == 1 else "" for one in found]


class _Scope:
    """What a query's names mean: tables, the names of WITH, and the sources of a SELECT."""

    def __init__(self, tables: Tables, named: Mapping[str, _Columns]) -> None:
        self.tables = tables
        self.named = dict(named)
        self.sources: dict[str, _Columns] = {}

    def inside(self) -> "_Scope":
        """Return the scope of a query within this one."""
        return _Scope(self.tables, self.named)

    def add(self, source: exp.Expr) -> None:
        """Add what FROM or JOIN names."""
        if isinstance(source, exp.Table):
            parts = tuple(part.name.lower() for part in source.parts)
            columns = self.named.get(parts[0]) if len(parts) == 1 else None
            if columns is None:
                columns = list(self.tables.get(parts, {}).items())
        else:
            columns = _columns_of(source, self.inside()) or []
        self.sources[source.alias_or_name.lower()] = columns

    def find(self, column: exp.Column) -> str:
        """Return the format of a column that one source has."""
        sources = (
            [self.sources.get(column.table.lower(), [])]
            if column.table
            else [*self.sources.values()]
        )
        found = {f for columns in sources for name, f in columns if name == column.name.lower()}
        return found.pop() if len(found) == 1 else ""


def _columns_of(query: exp.Expr, scope: _Scope) -> _Columns | None:
    if isinstance(query, exp.Subquery):
        return _columns_of(query.this, scope)
    if isinstance(query, exp.Query):
        for part in query.ctes:
            scope.named[part.alias.lower()] = _columns_of(part.this, scope.inside()) or []
    if isinstance(query, exp.SetOperation):
        left, right = (_columns_of(side, scope.inside()) for side in (query.left, query.right))
        if left is None or right is None or len(left) != len(right):
            return None
        return [(name, f if f == g else "") for (name, f), (_, g) in zip(left, right, strict=True)]
    if not isinstance(query, exp.Select):
        return None
    for clause in (query.args.get("from_"), *query.args.get("joins", ())):
        if clause is not None:
            scope.add(clause.this)
    return [column for one in query.expressions for column in _of_projection(one, scope)]


def _of_projection(one: exp.Expr, scope: _Scope) -> _Columns:
    if isinstance(one, exp.Star):
        return [column for columns in scope.sources.values() for column in columns]
    if isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
        return scope.sources.get(one.table.lower(), [])
    return [(one.alias_or_name.lower(), _format_of(one, scope))]


def _format_of(part: exp.Expr, scope: _Scope) -> str:
    for kinds, rule in _RULES:
        if isinstance(part, kinds):
            return rule(part, scope)
    return ""


def _of_column(part: exp.Expr, scope: _Scope) -> str:
    return scope.find(part) if isinstance(part, exp.Column) else ""


def _kept(part: exp.Expr, scope: _Scope) -> str:
    inner = part.expressions[0] if isinstance(part, exp.Distinct) else part.this
    return _format_of(inner, scope)


def _averaged(part: exp.Expr, scope: _Scope) -> str:
    found = parse_format(_kept(part, scope) or "@")
    return found.averaged().code if found else ""


def _counted(_: exp.Expr, __: _Scope) -> str:
    return WHOLE


def _cast(part: exp.Expr, scope: _Scope) -> str:
    return _kept(part, scope) if part.args["to"].is_type(*exp.DataType.NUMERIC_TYPES) else ""


def _added(part: exp.Expr, scope: _Scope) -> str:
    return _agreed([part.this, part.expression], scope)


def _chosen(part: exp.Expr, scope: _Scope) -> str:
    if isinstance(part, exp.Case):
        results = [one.args["true"] for one in part.args["ifs"]]
        return _agreed([*results, part.args.get("default")], scope)
    if isinstance(part, exp.If):
        return _agreed([part.args["true"], part.args.get("false")], scope)
    if isinstance(part, exp.Nullif):
        return _format_of(part.this, scope)
    return _agreed([part.this, *part.expressions], scope)


def _divided(part: exp.Expr, scope: _Scope) -> str:
    """Return the format of a quotient: an average, a part, or a ratio of two measures."""
    above, below = _format_of(part.this, scope), _format_of(part.expression, scope)
    if below == WHOLE or part.expression.is_number:
        found = parse_format(above or "@")
        return GENERAL if above == WHOLE else found.averaged().code if found else ""
    return GENERAL if above and below else ""


def _agreed(parts: Iterable[exp.Expr | None], scope: _Scope) -> str:
    """Return the format that parts have in common; literals and NULL have none of their own."""
    own = [part for part in parts if part is not None and not isinstance(part, exp.Null)]
    found = {_format_of(part, scope) for part in own if not part.is_number}
    return found.pop() if len(found) == 1 else ""


_RULES: Sequence[tuple[type | tuple[type, ...], Callable[[exp.Expr, _Scope], str]]] = (
    (exp.Column, _of_column),
    (_COUNTING, _counted),
    (_AVERAGING, _averaged),
    (exp.Cast, _cast),
    (exp.Div, _divided),
    ((exp.Add, exp.Sub), _added),
    (_CHOOSING, _chosen),
    (_KEEPING, _kept),
)
