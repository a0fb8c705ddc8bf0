"""Formats SQL for reading, if the result is certain to mean the same. Pure."""

from functools import lru_cache

import sqlglot
from sqlglot.errors import SqlglotError

MAX_CHARS = 6_000
MAX_NESTED = 40
DIALECT = "duckdb"  # of all sources but databases; SQL in other dialects is left as it is


@lru_cache(maxsize=500)
def lay_out(sql: str) -> str:
    """Return a formatted query; unchanged if it is long, deeply nested or ambiguous.

    The cost of parsing grows with length and depth, so both are bounded.
    """
    if len(sql) > MAX_CHARS or _depth(sql) > MAX_NESTED:
        return sql
    try:
        read = sqlglot.parse_one(sql, dialect=DIALECT)
        pretty = read.sql(dialect=DIALECT, pretty=True)
        is_same = sqlglot.parse_one(pretty, dialect=DIALECT) == read
    except (SqlglotError, RecursionError, ValueError):
        return sql
    return pretty if is_same else sql


def _depth(sql: str) -> int:
    depth = deepest = 0
    for sign in sql:
        depth += (sign in "([") - (sign in ")]")
        deepest = max(deepest, depth)
    return max(deepest, sql.upper().count("CASE"))
