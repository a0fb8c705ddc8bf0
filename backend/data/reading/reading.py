"""What a column was taken for: its type, the SQL that makes it, and what is to be said of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from backend.data.reading.cells import ERRORS, MISSING, SPACES
from backend.data.reading.raw import RAW

Examples = list[tuple[int, str]]


@dataclass(frozen=True)
class Reading:
    """A type and the expression that has it, over RAW with the `parts` of the cells beside them.

    `note` is for the column, `warnings` for the table. `decimal` is the sign of its fractions.
    """

    type: str
    expression: str
    note: str = ""
    warnings: list[str] = field(default_factory=list)
    parts: str = ""
    decimal: str = ""


def with_parts(readings: Iterable[Reading]) -> str:
    """Return the SQL of RAW with what expressions use several times, computed once."""
    parts = [reading.parts for reading in readings if reading.parts]
    return f"(SELECT {', '.join(['*', *parts])} FROM {RAW})"  # noqa: S608 - our own names


def text_reading(place: str, note: str = "", warnings: Iterable[str] = ()) -> Reading:
    """Return the column as it is written; errors and a database's NULL are no text."""
    expression = f"CASE WHEN {place} IN ({literals(sorted(ERRORS))}) THEN NULL ELSE {place} END"
    return Reading("VARCHAR", expression, note, list(warnings))


def trimmed(place: str) -> str:
    """Return the SQL of a cell without the spaces around it."""
    return f"trim({place}, {literal(SPACES)})"


def is_missing(text: str) -> str:
    """Return the SQL that is true for a mark that stands for no value."""
    known = literals(sorted(MISSING | {error.lower() for error in ERRORS}))
    return f"(lower({text}) IN ({known}))"


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Return texts as SQL, for IN."""
    return ", ".join(map(literal, texts))
