"""Refuses calls that make a huge value from a small number: engines do not limit that memory.

DuckDB builds `range(1000000000)` as one list of 8 GB, ignoring its memory limit and interrupts.
PostgreSQL and SQLite return the rows of a series one by one.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from sqlglot import exp

from backend.data.errors import QueryRefused

LARGEST_SIZE = 1_000
MOST_SIZED_CALLS = 2

# The position of the argument that says how large the result is.
_SIZED_BY = {
    **dict.fromkeys(("repeat", "lpad", "rpad", "pad", "replicate"), 1),
    **dict.fromkeys(("list_resize", "array_resize"), 1),
    **dict.fromkeys(("space", "zeroblob", "randomblob"), 0),
    "bar": 3,
}
_FORMATS = frozenset(("format", "printf", "format_string", "sformat"))
_DANGEROUS_WIDTH = re.compile(r"\d{4,}|\{[^}]*\{|\*")
_INTERVALS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=28),
    "quarter": timedelta(days=90),
    "year": timedelta(days=365),
}
_INTERVAL = re.compile(r"(\d{1,6})\s*([a-z]+?)s?", re.IGNORECASE)


def check_sizes(query: exp.Expr, dialect: str) -> None:
    """Raise QueryRefused for calls whose result can be far larger than their arguments."""
    sized = 0
    for node in query.find_all(exp.Func):
        names = set(_names(node))
        if dialect == "duckdb" and _is_list_of_series(node):
            sized += 1
            _check_series(node)
        if names & _FORMATS:
            _check_format(node)
        for name in names & _SIZED_BY.keys():
            sized += 1
            _check_size(list(_arguments(node))[_SIZED_BY[name] :])
    if sized > MOST_SIZED_CALLS:
        raise QueryRefused(
            "A query may repeat or pad text, or make lists from ranges, "
            f"{MOST_SIZED_CALLS} times at most."
        )


def _is_list_of_series(node: exp.Func) -> bool:
    return isinstance(node, exp.GenerateSeries) and not isinstance(node.parent, exp.Table)


def _check_series(node: exp.Func) -> None:
    length = _length(*(node.args.get(name) for name in ("start", "end", "step")))
    if length is None or length > LARGEST_SIZE or _is_repeated(node):
        raise QueryRefused(
            "Write range(…) in FROM. Elsewhere it needs plain numbers or dates as its limits, and "
            f"may have {LARGEST_SIZE:,} values at most, but not within a lambda."
        )


def _is_repeated(node: exp.Expr) -> bool:
    """Return whether it is computed for each element of another list."""
    while node.parent is not None:
        place, node = node.arg_key, node.parent
        is_body = isinstance(node, exp.Comprehension) and place != "iterator"
        if is_body or isinstance(node, exp.Lambda):
            return True
    return False


def _length(start: exp.Expr | None, end: exp.Expr | None, step: exp.Expr | None) -> float | None:
    """Return how many steps a series can have, or None if its text does not say."""
    first, last = _value(start), _value(end)
    by = 1 if step is None and isinstance(first, int) else _value(step)
    if isinstance(first, int) and isinstance(last, int) and isinstance(by, int):
        return abs(last - first) / abs(by) if by else None
    if isinstance(first, datetime) and isinstance(last, datetime) and isinstance(by, timedelta):
        return abs(last - first) / by if by else None
    return None


def _value(part: exp.Expr | None) -> int | datetime | timedelta | None:
    """Return a literal's number, date or shortest duration."""
    if isinstance(part, exp.Neg):
        number = _value(part.this)
        return -number if isinstance(number, int) else None
    if isinstance(part, exp.Literal) and part.is_int:
        return int(part.name)
    if isinstance(part, exp.Interval):
        return _duration(f"{part.name} {part.text('unit')}")
    if isinstance(part, exp.Cast | exp.TsOrDsToDate) and _is_text(part.this):
        try:
            return datetime.fromisoformat(part.name).replace(tzinfo=None)
        except ValueError:
            return _duration(part.name)
    return None


def _duration(text: str) -> timedelta | None:
    found = _INTERVAL.fullmatch(text.strip())
    unit = _INTERVALS.get(found[2].lower()) if found else None
    return int(found[1]) * unit if found and unit else None


def _check_size(sizes: Sequence[exp.Expr]) -> None:
    if sizes and not _is_small(sizes[0]):
        raise QueryRefused(
            f"Repeat or pad with a plain number up to {LARGEST_SIZE:,}, or with "
            f"least(…, {LARGEST_SIZE:,})."
        )


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


def _is_small(size: exp.Expr) -> bool:
    if isinstance(size, exp.Least):
        return any(map(_is_small, _arguments(size)))
    return isinstance(size, exp.Literal) and size.is_int and 0 <= int(size.name) <= LARGEST_SIZE


def _names(node: exp.Func) -> list[str]:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return [node.name.lower()]
    return [name.lower() for name in type(node).sql_names()]
