"""What a column was taken for: its type, the SQL that makes it, and what is to be said of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from backend.data.reading.cells import ERRORS, MISSING, SPACES

Examples = list[tuple[int, str]]


@dataclass(frozen=True)
class Reading:
    """A type and the expression over RAW that has it; `note` is for the column, `warnings` too."""

    type: str
    expression: str
    note: str = ""
    warnings: list[str] = field(default_factory=list)


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
