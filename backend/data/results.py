"""A query's result as rows of JSON scalars, collected up to limits."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

Scalar = str | int | float | bool | None

_LARGEST_EXACT_INT = 2**53
MAX_CELL_CHARS = 100_000
_EMPTY_FRACTION = re.compile(r"\.0+(?=$|[+Z-])")


@dataclass(frozen=True)
class Limits:
    """The limits of one query: rows, bytes of its cells as text, and seconds."""

    rows: int = 100_000
    bytes: int = 16_000_000
    seconds: float = 30.0
    skip: int = 0  # rows to skip


@dataclass(frozen=True)
class Column:
    """A column's name, its type as the source names it, and how its numbers are written, if known.

    The format is a workbook's: `backend/tabular/number_formats.py`.
    """

    name: str
    type: str
    format: str = ""

    @property
    def wire(self) -> dict[str, str]:
        """The column as stored tables and the wire have it."""
        written = {"format": self.format} if self.format else {}
        return {"name": self.name, "type": self.type, **written}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Column":
        """Return the column of a stored table."""
        return cls(str(stored["name"]), str(stored["type"]), str(stored.get("format") or ""))


@dataclass
class Table:
    """A result: columns, rows, and the limit that cut it off, if any."""

    columns: tuple[Column, ...]
    rows: list[list[Scalar]] = field(default_factory=list)
    cut_by: str | None = None

    def written_as(self, formats: Sequence[str]) -> "Table":
        """Return the table with the number formats of its columns."""
        pairs = zip(self.columns, formats, strict=True)
        return replace(self, columns=tuple(replace(one, format=f) for one, f in pairs))

    @property
    def complete(self) -> bool:
        """Whether no limit cut the result off."""
        return self.cut_by is None


def collect(
    columns: Sequence[Column], batches: Iterable[Iterable[Sequence[Any]]], limits: Limits
) -> Table:
    """Return rows of `batches` as scalars, up to a limit; further batches are not fetched.

    The first `limits.skip` rows are skipped and do not count towards any limit.
    """
    table = Table(tuple(columns))
    size = 0
    to_skip = limits.skip
    for batch in batches:
        for values in batch:
            if to_skip:
                to_skip -= 1
                continue
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
    """Return a database value as a JSON scalar; what JSON cannot hold exactly becomes text."""
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
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _cut(bytes(value[:MAX_CELL_CHARS]).hex())
    if isinstance(value, list | tuple | dict):
        return _clean(_cut(_as_json(value)))
    return _clean(_cut(str(value)))


def short_time(text: str) -> str:
    """Return an engine's date or time in the form of ISO 8601, as far as that has one.

    `infinity`, years before Christ and the like stay as the engine writes them.
    """
    if "." in text:
        text = _EMPTY_FRACTION.sub("", text)
    day, space, time_of_day = text.partition(" ")
    if space and time_of_day[:1].isdigit():
        text = f"{day}T{time_of_day}"
    has_bare_offset = text[-3:-2] in ("+", "-") and ":" in text
    return f"{text}:00" if has_bare_offset else text


def _duration(value: timedelta) -> str:
    """Return days and time with one sign; Python writes an hour ago as "-1 day, 23:00:00"."""
    sign, size = ("-", -value) if value < timedelta(0) else ("", value)
    hours, rest = divmod(size.seconds, 3600)
    fraction = f".{size.microseconds:06d}".rstrip("0").rstrip(".")
    days = f"{size.days} days " if size.days else ""
    return f"{sign}{days}{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{fraction}"


def _as_json(value: Any) -> str:
    """Return JSON with every digit of its numbers, which `json.dumps` cannot write."""
    if isinstance(value, dict):
        pairs = (f"{_json_text(str(key))}: {_as_json(part)}" for key, part in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_as_json(part) for part in value)}]"
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return _json_text(str(scalar(value)))


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _from_decimal(value: Decimal) -> Scalar:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and value.as_tuple().exponent == 0:
        return scalar(int(value))
    number = float(value)
    return number if Decimal(repr(number)) == value else format(value, "f")


def _clean(text: str) -> str:
    """Return text that JSONB and requests to models accept: NUL and lone surrogates escaped."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _cut(text: str) -> str:
    if len(text) <= MAX_CELL_CHARS:
        return text
    return f"{text[:MAX_CELL_CHARS]}… (cut at {MAX_CELL_CHARS:,} characters)"
