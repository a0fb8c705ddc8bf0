"""How to write names of tables and columns in a SQL dialect, and hints about wrong ones."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

import duckdb
from sqlalchemy.dialects import mysql, oracle, postgresql, sqlite
from sqlalchemy.sql.compiler import IdentifierPreparer

from backend.data.errors import did_you_mean
from backend.data.sql.quoting import identifier

_DIALECTS = {
    "postgres": postgresql.dialect,
    "mysql": mysql.dialect,
    "sqlite": sqlite.dialect,
    "oracle": oracle.dialect,
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTES = re.compile(r'["`\[\]]')


def written(path: Sequence[str], dialect: str) -> str:
    """Return a name of one or more parts as SQL, quoted where necessary."""
    return ".".join(_written(part, dialect) for part in path)


def plain(name: str) -> str:
    """Return a name without quotes and in lower case, for look-ups."""
    return _QUOTES.sub("", name).strip().lower()


def how_to_write(word: str, names: Iterable[str]) -> str:
    """Return a hint how to write a name that the engine does not know, or nothing.

    `names` are the existing names, as SQL must write them.
    """
    known = list(dict.fromkeys(names))
    whole, last = plain(word), plain(word).rpartition(".")[2]
    same = [name for name in known if plain(name) == whole and name != word]
    same = same or [name for name in known if plain(name) == last and name != word]
    if not same:
        return did_you_mean(last, known)
    right = " or ".join(same[:3])
    quoted = ", with these quotes: without them it is another name" if _QUOTES.search(right) else ""
    return f" Write it as {right}{quoted}."


def _written(name: str, dialect: str) -> str:
    if dialect == "duckdb":
        is_plain = _PLAIN.fullmatch(name) and name.lower() not in _duckdb_keywords()
        return name if is_plain else identifier(name)
    return _preparer(dialect).quote(name)


@cache
def _preparer(dialect: str) -> IdentifierPreparer:
    preparer: IdentifierPreparer = _DIALECTS[dialect]().identifier_preparer
    return preparer


@cache
def _duckdb_keywords() -> frozenset[str]:
    with duckdb.connect(":memory:") as connection:
        rows = connection.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
        ).fetchall()
    return frozenset(word for (word,) in rows)
