"""Refuses calls that make a huge value from a small number: engines do not limit that memory.

DuckDB builds `range(1000000000)` as one list of 8 GB, ignoring its memory limit and interrupts.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from backend.data.errors import QueryRefused

LARGEST_SIZE = 1_000
MOST_SIZED_CALLS = 2

_SIZED = frozenset(("repeat", "lpad", "rpad", "pad", "space", "replicate"))
_RESIZING = frozenset(("list_resize", "array_resize", "bar", "zeroblob", "randomblob"))
_FORMATS = frozenset(("format", "printf", "format_string"))
_DANGEROUS_WIDTH = re.compile(r"\d{4,}|\{[^}]*\{|\*")


def check_sizes(query: exp.Expr) -> None:
    """Raise QueryRefused for calls whose result can be far larger than their arguments."""
    sized = 0
    for node in query.find_all(exp.Func):
        names = set(_names(node))
        if isinstance(node, exp.GenerateSeries) and not isinstance(node.parent, exp.Table):
            raise QueryRefused("Write range(…) in FROM, as in: SELECT * FROM range(10).")
        if names & _RESIZING:
            raise QueryRefused(f"The function {min(names)} is not allowed in queries.")
        if names & _FORMATS:
            _check_format(node)
        if names & _SIZED:
            sized += 1
            _check_size(node)
    if sized > MOST_SIZED_CALLS:
        raise QueryRefused(f"A query may repeat or pad text {MOST_SIZED_CALLS} times at most.")


def _check_size(node: exp.Func) -> None:
    numbers = [part for part in _arguments(node) if not _is_text(part)]
    sizes = [part for part in numbers if isinstance(part, exp.Literal)]
    if not sizes or any(not _is_small(size) for size in sizes):
        raise QueryRefused(f"Repeat or pad with a plain number up to {LARGEST_SIZE:,}.")


def _check_format(node: exp.Func) -> None:
    pattern = next(_arguments(node), None)
    if not _is_text(pattern) or _DANGEROUS_WIDTH.search(pattern.name if pattern else ""):
        raise QueryRefused("The format must be a plain text without widths above 999.")


def _arguments(node: exp.Func) -> Iterator[exp.Expr]:
    for value in node.args.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, exp.Expr):
                yield part


def _is_text(part: exp.Expr | None) -> bool:
    return isinstance(part, exp.Literal) and part.is_string


def _is_small(size: exp.Literal) -> bool:
    return size.is_int and 0 <= int(size.name) <= LARGEST_SIZE


def _names(node: exp.Func) -> list[str]:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return [node.name.lower()]
    return [name.lower() for name in type(node).sql_names()]
