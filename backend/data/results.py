"""A query's result as plain rows of JSON scalars, gathered up to limits."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

Scalar = str | int | float | bool | None

_LARGEST_EXACT_INT = 2**53
MAX_CELL_CHARS = 100_000


@dataclass(frozen=True)
class Limits:
    """How much one query may give: rows, bytes of its cells as text, and seconds."""

    rows: int = 100_000
    bytes: int = 16_000_000
    seconds: float = 30.0


@dataclass(frozen=True)
class Column:
    """A column's name and its type in the source's own words."""

    name: str
    type: str


@dataclass
class Table:
    """A result: columns, rows, and the limit that cut it short, if one did."""

    columns: tuple[Column, ...]
    rows: list[list[Scalar]] = field(default_factory=list)
    cut_by: str | None = None

    @property
    def complete(self) -> bool:
        """Whether no limit cut the result short."""
        return self.cut_by is None


def collect(
    columns: Sequence[Column], batches: Iterable[Iterable[Sequence[Any]]], limits: Limits
) -> Table:
    """Rows of `batches` as scalars until a limit is reached; later batches are not fetched."""
    table = Table(tuple(columns))
    size = 0
    for batch in batches:
        for values in batch:
            if len(table.rows) >= limits.rows:
                table.cut_by = f"the limit of {limits.rows:,} rows"
                return table
            row = [scalar(value) for value in values]
            size += sum(len(cell) if isinstance(cell, str) else 8 for cell in row)
            if size > limits.bytes:
                table.cut_by = f"the limit of {limits.bytes / 1e6:g} MB"
                return table
            table.rows.append(row)
    return table


def scalar(value: Any) -> Scalar:
    """Any database value as a JSON scalar; what JSON cannot hold exactly becomes text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST_EXACT_INT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _from_decimal(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return _cut(bytes(value[:MAX_CELL_CHARS]).hex())
    if isinstance(value, list | tuple | dict):
        return _clean(_cut(json.dumps(value, default=str, ensure_ascii=False)))
    return _clean(_cut(str(value)))


def _from_decimal(value: Decimal) -> Scalar:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and value.as_tuple().exponent == 0:
        return scalar(int(value))
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)


def _clean(text: str) -> str:
    """Text that PostgreSQL's JSONB and a model's request take: no NUL, no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _cut(text: str) -> str:
    if len(text) <= MAX_CELL_CHARS:
        return text
    return f"{text[:MAX_CELL_CHARS]}… (cut at {MAX_CELL_CHARS:,} characters)"
