"""How a file was read, in sentences: stored with its snapshot, shown with its tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_EXAMPLES = 3
MOST_LINES = 20
_LONGEST_EXAMPLE = 80
_LONGEST_NOTE = 500


@dataclass
class Understood:
    """How one table was read.

    `form` says how it is written, `warnings` what is missing, was skipped or is ambiguous,
    `columns` how the cells of each column were read, `formats` how its numbers were written, as a
    workbook's number format. `facts` are the same as values, by name, for
    corrections: encoding, separator or is_aligned, decimal, header, titles, below, totals, sheet.
    """

    form: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)

    def warn(self, text: str) -> None:
        """Add a warning, shortened if it quotes much text."""
        cut = len(text) > _LONGEST_NOTE
        self.warnings.append(text[:_LONGEST_NOTE] + "…" if cut else text)


@dataclass
class Occurrences:
    """How often something odd was seen, and the first lines where it was."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    examples: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append((line, text))

    def listed(self) -> list[dict[str, Any]]:
        """Return the examples as values."""
        return [{"line": line, "text": quote(text)[1:-1]} for line, text in self.examples]

    def shown(self) -> str:
        """Return the examples as text, and further lines: line 3: 'a;b', line 9: 'c', line 12."""
        shown = [f"line {line:,}: {quote(text)}" for line, text in self.examples]
        shown += [f"line {line:,}" for line in self.lines[len(self.examples) :]]
        return ", ".join(shown) + (", …" if self.count > len(self.lines) else "")


def quote(text: str) -> str:
    """Return a short text in quotes, on one line."""
    plain = " ".join(text.split())
    return f"'{plain[:_LONGEST_EXAMPLE]}…'" if len(plain) > _LONGEST_EXAMPLE else f"'{plain}'"


def save_understood(path: Path, tables: Mapping[str, Understood]) -> None:
    """Store how each table was read."""
    path.write_text(json.dumps({name: vars(table) for name, table in tables.items()}))


def load_understood(path: Path) -> dict[str, Understood]:
    """Return how each table was read; nothing for data that is not from a file."""
    if not path.is_file():
        return {}
    return {name: Understood(**table) for name, table in json.loads(path.read_text()).items()}


def are_null(count: int, noun: str, place: str) -> str:
    """Return how many cells became NULL: 1 word among dates is NULL, 2 words among dates are."""
    return f"1 {noun} {place} is NULL" if count == 1 else f"{count:,} {noun}s {place} are NULL"
