"""What a query may be: one SELECT over known tables with harmless functions; pure parsing.

The engines refuse writes by themselves as well; neither wall relies on the other.
"""

import logging
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from backend.data.errors import QueryRefused, did_you_mean
from backend.data.sizes import check_sizes

# Unknown statements are refused below; the parser's own warning about them adds nothing.
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

# Functions that read files, settings or the server, run SQL in text, wait, or keep state.
_FORBIDDEN_FUNCTIONS = re.compile(
    r"""(pg_(?!typeof$)|lo_|dblink|duckdb_|pragma_|read_|parquet_|arrow_|pandas_|python_|sniff_|fts3_
    |sqlite_|sys_|xp_|utl_|dbms_|load_|json_execute|json_(de)?serialize|which_|write_|__internal|has_
    |inet_|query$|query_table$|glob$|getenv$|getvariable$|setseed$|nextval$|setval$|currval$|lastval$
    |set_config$|current_setting$|current_query|sleep|benchmark$|get_lock$|readfile$|writefile$|edit$
    |to_file$|secret$|next_value_for$|seq_scan$|which_secret$|checkpoint$|force_checkpoint$
    |(query|table|cursor|database|schema)_to_xml|test_|txid_|version$|in_search_path$)""",
    re.IGNORECASE | re.VERBOSE,
)
# Functions of databases that the parser has no name for, and which only compute.
_HARMLESS_NAMES = """
    age bool_and bool_or btrim concat_ws date date_bin date_format datetime div group_concat
    ifnull initcap instr json_extract_path_text json_object_agg json_agg jsonb_agg julianday
    justify_days lpad ltrim make_date mod nullif num_nonnulls percentile_cont percentile_disc
    printf random regexp_count regexp_match regexp_matches regexp_replace regexp_substr rpad
    rtrim sign split_part str_to_date strftime string_agg time to_char to_date to_number total
    translate trunc typeof unixepoch width_bucket
"""
_HARMLESS_FUNCTIONS = frozenset(_HARMLESS_NAMES.split())
_TABLE_FUNCTIONS = (exp.GenerateSeries, exp.Unnest, exp.ExplodingGenerateSeries)


@dataclass(frozen=True)
class Surroundings:
    """What a query may name: its dialect, the tables by catalog, and the engine's own functions."""

    dialect: str
    tables: frozenset[tuple[str, ...]]
    functions: Collection[str] = _HARMLESS_FUNCTIONS
    may_qualify_functions: bool = False


def check_query(sql: str, surroundings: Surroundings) -> exp.Expr:
    """The parsed query; raises QueryRefused with what to write instead."""
    query = _parse_one(sql, surroundings.dialect)
    for node in query.walk():
        _check_part(node)
        if isinstance(node, exp.Func):
            _check_function(node, surroundings)
        if isinstance(node, exp.Table):
            _check_table(node, surroundings)
    check_sizes(query)
    return query


def referenced_tables(query: exp.Expr) -> Iterator[tuple[str, ...]]:
    """The names of all tables the query reads, without its own WITH names, in lower case."""
    for table in query.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not _is_with_name(table):
            yield _path(table)


def _parse_one(sql: str, dialect: str) -> exp.Expr:
    if len(sql) > MAX_QUERY_CHARS:
        raise QueryRefused(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
    if _nesting(sql) > _MAX_NESTING:
        raise QueryRefused("The query is nested too deeply. Use WITH to name its parts.")
    try:
        statements = [part for part in sqlglot.parse(sql, dialect=dialect) if part is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        reason = re.sub(r"\x1b\[\d+m", "", str(error)).strip().splitlines()
        raise QueryRefused(f"The query is not valid SQL: {' '.join(reason)[:300]}") from None
    if len(statements) != 1:
        raise QueryRefused(f"{_ONE_SELECT} This text holds {len(statements)} statements.")
    if not isinstance(statements[0], _QUERY_PARTS):
        raise QueryRefused(f"{_ONE_SELECT} To see a table's columns use describe_source.")
    return statements[0]


def _nesting(sql: str) -> int:
    depth = deepest = 0
    for character in sql:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _check_part(node: exp.Expr) -> None:
    if isinstance(node, _FORBIDDEN_PARTS):
        raise QueryRefused(f"{_ONE_SELECT} {type(node).__name__} is not part of one.")


def _check_function(node: exp.Func, surroundings: Surroundings) -> None:
    names = _function_names(node)
    known = not isinstance(node, exp.Anonymous) or names[0] in surroundings.functions
    if not known or any(_FORBIDDEN_FUNCTIONS.match(name) for name in names):
        hint = did_you_mean(names[0], surroundings.functions) if not known else ""
        raise QueryRefused(f"The function {names[0]} is not allowed in queries.{hint}")
    qualified = isinstance(node.parent, exp.Dot) and not surroundings.may_qualify_functions
    if qualified:
        raise QueryRefused(f"Write {names[0]} without a schema in front of it.")


def _function_names(node: exp.Func) -> list[str]:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return [str(node.this if isinstance(node.this, str) else node.name).lower()]
    return [name.lower() for name in type(node).sql_names()]


def _check_table(table: exp.Table, surroundings: Surroundings) -> None:
    if isinstance(table.this, exp.Func):
        if not isinstance(table.this, _TABLE_FUNCTIONS):
            raise QueryRefused("Only tables of the sources can stand in FROM, no functions.")
        return
    if not isinstance(table.this, exp.Identifier):
        raise QueryRefused("Only tables of the sources can stand in FROM.")
    if _is_with_name(table) or _path(table) in surroundings.tables:
        return
    raise QueryRefused(_unknown_table(table, surroundings))


def _unknown_table(table: exp.Table, surroundings: Surroundings) -> str:
    name = ".".join(_path(table))
    known = sorted({".".join(path) for path in surroundings.tables})
    shown = ", ".join(known[:40]) + (", …" if len(known) > 40 else "")
    return f"There is no table {name!r}.{did_you_mean(name, known)} The tables are: {shown}."


def _path(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in table.parts)


def _is_with_name(table: exp.Table) -> bool:
    """Whether the name is one that a WITH around it defines, by the rules of visibility.

    A WITH name that is not visible here would be the engine's own table of that name.
    """
    if len(table.parts) > 1:
        return False
    name = _exact_name(table.this)
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
    """The names of a WITH that `inside` sees: those before it, and its own if recursive."""
    names: set[str] = set()
    if not isinstance(with_, exp.With):
        return names
    for definition in with_.expressions:
        if definition is inside:
            return names | (
                {_exact_name(definition.args["alias"].this)} if with_.recursive else set()
            )
        names.add(_exact_name(definition.args["alias"].this))
    return names


def _exact_name(identifier: exp.Expr) -> str:
    quoted = bool(identifier.args.get("quoted"))
    return identifier.name if quoted else identifier.name.lower()
