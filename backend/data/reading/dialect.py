"""Which separator and quotes a text table uses.

It chooses those with which lines have equal widths and cells look like values: clevercsv's
measure, over a bounded sample.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from backend.data.reading.cells import Kind, kind_of

SEPARATORS = (",", ";", "\t", "|", "\x01", "^", "~", "¦", ":")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", ":": "colons"}
_MOST_LINES = 200
_MOST_CELLS = 4_000
_SINGLE = 0.2  # the score of a single column
_LONGEST_CELL = 10_000_000


@dataclass(frozen=True)
class Dialect:
    """How to split a line into cells; without a separator it is one cell."""

    separator: str = ""
    quote: str = '"'
    escape: str | None = None
    skips_space: bool = False

    @property
    def name(self) -> str:
        """The separator's name for people."""
        return _NAMES.get(self.separator, repr(self.separator))

    def reader(self, lines: Iterable[str], *, takes_quotes: bool = True) -> Iterator[list[str]]:
        """Return the cells of each record; a single column is not split."""
        return csv.reader(
            lines,
            delimiter=self.separator or "\0",
            quotechar=self.quote,
            escapechar=self.escape if takes_quotes else None,
            skipinitialspace=self.skips_space,
            quoting=csv.QUOTE_MINIMAL if takes_quotes else csv.QUOTE_NONE,
        )


def allow_long_cells() -> None:
    """Let Python's csv reader accept cells up to 10 MB; the limit applies to the whole process."""
    csv.field_size_limit(_LONGEST_CELL)


def split(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of one line, its quotes kept as they are."""
    return next(dialect.reader([line.rstrip("\r\n")], takes_quotes=False), [])


def detect_dialect(lines: Sequence[str]) -> Dialect:
    """Return the dialect of the sample with the best score; no separator if none fits."""
    lines = [line for line in lines if line.strip()][:_MOST_LINES]
    quote = _quote(lines)
    escape = "\\" if any('\\"' in line for line in lines) else None
    text = "".join(lines)
    lines = _without_quoted(lines, quote)
    present = [mark for mark in SEPARATORS if any(mark in line for line in lines)]
    best, highest = Dialect(), _SINGLE
    for mark in present:
        spaced = f"{mark} {quote}" in text
        dialect = Dialect(mark, quote, escape, spaced)
        score = _score(lines, dialect)
        if score > highest * (1.5 if mark == ":" else 1.0001):
            best, highest = dialect, score
    return Dialect() if best.separator and _is_one_column(lines, best) else best


def _without_quoted(lines: Sequence[str], quote: str) -> list[str]:
    """Return the lines with quoted cells replaced by a letter, because their content misleads."""
    edge = "[,;\t|\x01^~¦:\r\n]"
    quoted = rf"(?:^|(?<={edge})) ?{quote}(?:[^{quote}\\]|{quote}{quote}|\\.)*{quote}(?=$|{edge})"
    return re.sub(quoted, "q", "".join(lines), flags=re.DOTALL).splitlines(keepends=True)


def _quote(lines: Sequence[str]) -> str:
    """Return a single quote if cells begin and end with it and no cell has a double one."""
    text = "\n".join(lines)
    edge = "[,;\t|\n]"
    doubles = len(re.findall(rf'(?:^|{edge}) ?"|"(?:$|{edge})', text))
    singles = len(re.findall(rf"(?:^|{edge}) ?'[^'\n]*'(?:$|(?={edge}))", text))
    return "'" if singles > 2 and singles > doubles else '"'


def _score(lines: Sequence[str], dialect: Dialect) -> float:
    try:
        rows = list(dialect.reader(lines))
    except csv.Error:
        return 0.0
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return 0.0
    width, count = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
    agreeing = [row for row in rows if len(row) == width]
    cells = [cell for row in agreeing for cell in row][:_MOST_CELLS]
    clean = sum(_is_clean(cell, dialect.separator) for cell in cells) / len(cells)
    return count / len(rows) * clean**2 * (1 - 1 / width)


def _is_clean(cell: str, separator: str) -> bool:
    """Return whether a cell looks like one value, not like several or a part of one."""
    if kind_of(cell) != Kind.TEXT:
        return True
    if separator == "," and cell.startswith(" ") and not cell.startswith(' "'):
        return " " not in cell.strip()
    return not any(mark in cell for mark in ";\t|" if mark != separator)


def _is_one_column(lines: Sequence[str], dialect: Dialect) -> bool:
    """Return whether the separator is part of numbers or dates, and missing in the header."""
    if dialect.separator in lines[0] or len(lines) < 2:
        return False
    return all(kind_of(line) in (Kind.NUMBER, Kind.DATE, Kind.MISSING) for line in lines[1:])
