"""What a query may be: one SELECT over known tables with harmless functions; pure parsing.

The engines refuse writes on their own as well; neither barrier relies on the other.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from backend.data.errors import QueryRefused, did_you_mean
from backend.data.sql.attributes import (
    ColumnsOfTables,
    attribute_names,
    called_attribute,
    called_name,
    exact_name,
)
from backend.data.sql.functions import FORBIDDEN, HARMLESS, IN_FROM, refusal
from backend.data.sql.sizes import check_sizes

# Unknown statements are refused below, so the parser's own warning about them is superfluous.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

MAX_QUERY_CHARS = 50_000
_MAX_NESTING = 150
_ONE_SELECT = "Only one SELECT (or WITH … SELECT) is allowed: the sources are read-only."

_FORBIDDEN_PARTS = (
    exp.DML,
    exp.DDL,
    exp.Merge,
    exp.Command,
    exp.Copy,
    exp.Into,
    exp.Lock,
    exp.Set,
    exp.Pragma,
    exp.Attach,
    exp.Detach,
    exp.Use,
    exp.Drop,
    exp.Alter,
    exp.Describe,
    exp.Summarize,
    exp.Parameter,
    exp.SessionParameter,
    exp.Placeholder,
    exp.Operator,
    exp.TableFromRows,
)
_QUERY_PARTS = (exp.Query, exp.Values)

_TABLE_FUNCTIONS = (
    exp.GenerateSeries,
    exp.Unnest,
    exp.ExplodingGenerateSeries,
    exp.JSONTable,
)
_ANY_FUNCTION_IN_FROM = frozenset(("postgres",))
_CATALOGS = frozenset(("information_schema", "pg_catalog", "sqlite_master", "sqlite_schema", "sys"))
_CALL_WITHOUT_PARENTHESES = frozenset(("postgres", "oracle"))
# The tables that engines provide: one row to compute with, and MariaDB's sequences of numbers.
_PROVIDED = {
    "mysql": re.compile(r"dual|seq_\d+_to_\d+(_step_\d+)?"),
    "oracle": re.compile(r"dual"),
}
_MOST_LISTED = 40
_DESCRIBE = "describe_source lists a table's columns, and so does the page Data."
_INSTEAD: Sequence[tuple[type[exp.Expr] | tuple[type[exp.Expr], ...], str]] = (
    (exp.Lock, "Leave out FOR UPDATE or FOR SHARE: nothing is locked here."),
    (exp.Into, "Leave out INTO: the rows come back to you."),
    (
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        "Write the value itself instead of a parameter or a variable of the server.",
    ),
    (exp.Operator, "Write the operator alone, without OPERATOR(…)."),
    ((exp.Describe, exp.Summarize, exp.Pragma), _DESCRIBE),
    (
        exp.Pivot,
        "Write a PIVOT inside a SELECT: SELECT … FROM t PIVOT (sum(x) FOR y IN (1, 2)), or use "
        "sum(x) FILTER (WHERE y = 1).",
    ),
)


@dataclass(frozen=True)
class QueryScope:
    """What a query may name: its dialect, its tables in lower case, the engine's functions.

    `shown` holds the tables' names as a query must write them, `columns` their columns if known;
    `functions_among` returns which names the server has functions of that may do more than compute.
    Without `functions`, the dialect's functions that are known to only compute are allowed.
    """

    dialect: str
    tables: frozenset[tuple[str, ...]]
    functions: Collection[str] = ()
    may_qualify_functions: bool = False
    shown: Sequence[str] = ()
    columns: ColumnsOfTables = field(default_factory=dict)
    functions_among: Callable[[Collection[str]], Collection[str]] = lambda _: ()

    def knows(self, function: str) -> bool:
        """Return whether a function is known to only compute."""
        return function in self.functions or function in HARMLESS.get(self.dialect, ())


def check_query(sql: str, query_scope: QueryScope) -> exp.Expr:
    """Return the parsed query. Raise QueryRefused, which says what to write instead."""
    query = _parse_one(sql, query_scope.dialect)
    for node in query.walk():
        _check_part(node)
        if isinstance(node, exp.Func):
            _check_function(node, query_scope)
        if isinstance(node, exp.Table):
            _check_table(node, query_scope)
    check_sizes(query, query_scope.dialect)
    if query_scope.dialect in _CALL_WITHOUT_PARENTHESES:
        _check_attributes(query, query_scope)
    if query_scope.dialect == "oracle" and query_scope.columns:
        _check_bare_names(query, query_scope)
    return query


def referenced_tables(query: exp.Expr) -> Iterator[tuple[str, ...]]:
    """Yield the names of all tables that the query reads, except WITH names, in lower case."""
    for table in query.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not _is_with_name(table):
            yield _path(table)


def names_of_tables(sql: str, dialect: str) -> str:
    """Return the names of the tables that a checked query reads, without those of its columns."""
    return " ".join(".".join(path) for path in referenced_tables(_parse_one(sql, dialect)))


def _parse_one(sql: str, dialect: str) -> exp.Expr:
    if len(sql) > MAX_QUERY_CHARS:
        raise QueryRefused(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
    if _nesting(sql) > _MAX_NESTING:
        raise QueryRefused("The query is nested too deeply. Use WITH to name its parts.")
    try:
        statements = [part for part in sqlglot.parse(sql, dialect=dialect) if part is not None]
    except (AttributeError, TypeError, IndexError, KeyError):  # bugs in the parser
        raise QueryRefused(
            "The query is not valid SQL: a call in it has too few arguments, or wrong ones."
        ) from None
    except (SqlglotError, RecursionError, ValueError) as error:
        reason = re.sub(r"\x1b\[\d+m", "", str(error)).strip().splitlines()
        raise QueryRefused(f"The query is not valid SQL: {' '.join(reason)[:300]}") from None
    if len(statements) != 1:
        held = f"This text holds {len(statements)} statements: ask one at a time."
        raise QueryRefused(f"{_ONE_SELECT} {held}")
    if not isinstance(statements[0], _QUERY_PARTS):
        raise QueryRefused(f"{_ONE_SELECT} {_instead(statements[0]) or _DESCRIBE}")
    return statements[0]


def _nesting(sql: str) -> int:
    depth = deepest = 0
    for character in sql:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _check_part(node: exp.Expr) -> None:
    if isinstance(node, _FORBIDDEN_PARTS):
        instead = _instead(node) or f"{type(node).__name__} is not part of one."
        raise QueryRefused(f"{_ONE_SELECT} {instead}")


def _instead(node: exp.Expr) -> str:
    """Return what to write instead of a refused part, if there is an alternative."""
    return next((hint for kinds, hint in _INSTEAD if isinstance(node, kinds)), "")


def _check_function(node: exp.Func, query_scope: QueryScope) -> None:
    names = _function_names(node)
    if any(FORBIDDEN.match(name) for name in names):
        raise QueryRefused(refusal(names[0]))
    if isinstance(node, exp.Anonymous) and not query_scope.knows(names[0]):
        known = query_scope.functions or HARMLESS.get(query_scope.dialect, ())
        raise QueryRefused(
            f"The function {names[0]} is not allowed in queries: it is not known as one that only "
            f"computes.{did_you_mean(names[0], known)} Write it with other functions, CASE or "
            "arithmetic."
        )
    qualified = isinstance(node.parent, exp.Dot) and not query_scope.may_qualify_functions
    if qualified:
        raise QueryRefused(f"Write {names[0]} without a schema in front of it.")


def _check_attributes(query: exp.Expr, query_scope: QueryScope) -> None:
    names = attribute_names(query)
    functions = set(filter(FORBIDDEN.match, names)).union(query_scope.functions_among(names))
    harmless = set(filter(query_scope.knows, functions))
    name = called_attribute(query, query_scope.columns, functions - harmless)
    if name is not None:
        raise QueryRefused(
            f"{name} after a dot calls the function {name}, which is not allowed in queries. "
            "Only a table of the query that has such a column may stand before this dot."
        )


def _check_bare_names(query: exp.Expr, query_scope: QueryScope) -> None:
    name = called_name(query, query_scope.columns)
    if name is not None:
        known = frozenset().union(*query_scope.columns.values())
        raise QueryRefused(
            f"No table of the query has a column {name!r}, and a function may have that name."
            f"{did_you_mean(name, sorted(known))}"
        )


def _function_names(node: exp.Func) -> list[str]:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return [str(node.this if isinstance(node.this, str) else node.name).lower()]
    return [name.lower() for name in type(node).sql_names()]


def _check_table(table: exp.Table, query_scope: QueryScope) -> None:
    if isinstance(table.this, exp.Func):
        _check_table_function(table.this, query_scope)
        return
    if not isinstance(table.this, exp.Identifier):
        raise QueryRefused(
            "Only tables of the sources can stand in FROM. A file is a source of its own: "
            "list_sources names it and its tables."
        )
    if (
        _is_provided(table, query_scope)
        or _is_with_name(table)
        or _path(table) in query_scope.tables
    ):
        return
    raise QueryRefused(_unknown_table(table, query_scope))


def _is_provided(table: exp.Table, query_scope: QueryScope) -> bool:
    provided = _PROVIDED.get(query_scope.dialect)
    is_plain = len(table.parts) == 1 and not table.this.args.get("quoted")
    return bool(provided and is_plain and provided.fullmatch(table.name.lower()))


def _check_table_function(function: exp.Func, query_scope: QueryScope) -> None:
    allowed = IN_FROM.get(query_scope.dialect, frozenset())
    if query_scope.dialect in _ANY_FUNCTION_IN_FROM:
        return  # checked as every function is
    if isinstance(function, _TABLE_FUNCTIONS) or allowed.intersection(_function_names(function)):
        return
    others = f", {', '.join(sorted(allowed))}" if allowed else ""
    raise QueryRefused(
        "Only tables of the sources can stand in FROM, no functions but generate_series, "
        f"unnest{others}. list_sources names the tables."
    )


def _unknown_table(table: exp.Table, query_scope: QueryScope) -> str:
    path = _path(table)
    name = ".".join(path)
    if _CATALOGS.intersection(path):
        return f"The catalog {name} cannot be queried. {_DESCRIBE}"
    known = query_scope.shown or sorted({".".join(path) for path in query_scope.tables})
    listed = query_scope.shown or _shortest_names(query_scope.tables)
    more = len(listed) - _MOST_LISTED
    others = f", and {more:,} more: describe_source lists them" if more > 0 else ""
    shown = ", ".join(listed[:_MOST_LISTED]) + others
    return f"There is no table {name!r}.{did_you_mean(name, known)} The tables are: {shown}."


def _shortest_names(tables: frozenset[tuple[str, ...]]) -> list[str]:
    """Return one name of each table: the others have its source before it."""
    return sorted(
        ".".join(path)
        for path in tables
        if not any(path[start:] in tables for start in range(1, len(path)))
    )


def _path(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in table.parts)


def _is_with_name(table: exp.Table) -> bool:
    """Return whether the name is defined by an enclosing WITH, by the rules of visibility.

    A WITH name that is not visible here would be a table of that name in the engine.
    """
    if len(table.parts) > 1:
        return False
    name = exact_name(table.this)
    inside: exp.Expr = table
    node: exp.Expr | None = table.parent
    while node is not None:
        with_ = node.args.get("with_")
        scope = node if isinstance(node, exp.With) else with_
        if scope is not inside and name in _visible_names(scope, inside):
            return True
        inside, node = node, node.parent
    return False


def _visible_names(with_: exp.Expr | None, inside: exp.Expr) -> set[str]:
    """Return the WITH names that `inside` sees: those before it, and its own if recursive."""
    names: set[str] = set()
    if not isinstance(with_, exp.With):
        return names
    for definition in with_.expressions:
        if definition is inside:
            return names | (
                {exact_name(definition.args["alias"].this)} if with_.recursive else set()
            )
        names.add(exact_name(definition.args["alias"].this))
    return names
