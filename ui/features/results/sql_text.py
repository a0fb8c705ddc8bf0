"""SQL laid out for reading, where that surely says the same. Pure."""

from functools import lru_cache

import sqlglot
from sqlglot.errors import SqlglotError

MAX_CHARS = 6_000
MAX_NESTED = 40
DIALECT = "duckdb"  # of all sources but databases, whose SQL is left alone where it is another


@lru_cache(maxsize=500)
def lay_out(sql: str) -> str:
    """Return a query in lines; as it was written where it is long, nested deeply or read in doubt.

    The cost of reading grows with length and depth, so both are bounded.
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
