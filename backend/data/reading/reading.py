"""The result for a column: its type, the SQL that produces it, and notes about it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from backend.data.reading.cells import ERRORS, MISSING, NO_AMOUNT, NULL, SPACES
from backend.data.reading.raw import RAW
from backend.data.sql.quoting import literal

Examples = list[tuple[int, str]]
DURATIONS = "durations, in seconds: 1:30:00 is 5400"


@dataclass(frozen=True)
class Reading:
    """A type and the SQL expression that produces it, over RAW and the `parts` of its cells.

    `note` is about the column, `warnings` about the table. `decimal` is its decimal mark, `zone`
    that of local times that are written with their offset, `format` how its numbers are written,
    as a workbook's number format.
    """

    type: str
    expression: str
    note: str = ""
    warnings: list[str] = field(default_factory=list)
    parts: str = ""
    decimal: str = ""
    zone: str = ""
    format: str = ""

    def with_note(self, note: str) -> "Reading":
        """Return it with one more note about the column, which is a warning about the table."""
        notes = "; ".join(filter(None, (self.note, note)))
        return replace(self, note=notes, warnings=[*self.warnings, note])


def with_parts(readings: Iterable[Reading]) -> str:
    """Return the SQL of RAW with shared subexpressions, so that each is computed once."""
    parts = [reading.parts for reading in readings if reading.parts]
    return f"(SELECT {', '.join(['*', *parts])} FROM {RAW})"  # noqa: S608 - our own names


def text_reading(place: str, note: str = "", warnings: Iterable[str] = ()) -> Reading:
    """Return the column as it is written, only a database's NULL as NULL."""
    return Reading("VARCHAR", f"nullif({place}, {literal(NULL)})", note, list(warnings))


def duration_reading(place: str, type_: str = "DOUBLE") -> Reading:
    """Return a column of durations as numbers: the engine cannot sum intervals."""
    seconds = f"CAST(epoch(CAST({place} AS INTERVAL)) AS {type_})"
    return Reading(type_, seconds, DURATIONS, [DURATIONS])


def is_error_sql(place: str) -> str:
    """Return the SQL that is true for a spreadsheet's error, or a database's NULL."""
    return _is_one_of(place, ERRORS)


def trimmed(place: str) -> str:
    """Return the SQL of a cell without surrounding spaces."""
    return f"trim({place}, {literal(SPACES)})"


def missing_value_sql(text: str) -> str:
    """Return the SQL that is true for a mark that means "no value"."""
    is_mark = _is_one_of(f"lower({text})", MISSING | {error.lower() for error in ERRORS})
    return f"({is_mark} OR regexp_full_match({text}, {literal(NO_AMOUNT)}))"


def literals(texts: Iterable[str]) -> str:
    """Return texts as SQL literals, for IN."""
    return ", ".join(map(literal, texts))


def _is_one_of(text: str, known: Iterable[str]) -> str:
    """Return the SQL of IN as a pattern: the engine holds 32 KB for each text of a list."""
    pattern = "|".join(map(re.escape, sorted(known)))
    return f"regexp_full_match({text}, {literal(pattern)})"
