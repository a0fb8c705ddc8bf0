"""Finds which separator, quotes and escape a text table uses.

It chooses those with which lines have equal widths and cells look like values: clevercsv's
measure, over a bounded sample.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from backend.data.reading.cells import Kind, kind_of
from backend.data.reading.dialect import BACKSLASH, SEPARATORS, Dialect
from backend.data.reading.records import Records
from backend.data.reading.splitting import HIDDEN, Splitter

_MOST_LINES = 200
_MOST_CELLS = 4_000
_SINGLE = 0.2  # the score of a single column
_VALUES = (Kind.NUMBER, Kind.DATE, Kind.CODE)
# Colons of these separate no cells.
_CLOCK_OR_ADDRESS = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?|://")

Rows = list[list[str]]


def detect_dialect(lines: Sequence[str], marks: Iterable[str] = SEPARATORS) -> Dialect:
    """Return the dialect of the sample with the best score; no separator if none fits."""
    lines = [line for line in lines if line.strip()][:_MOST_LINES]
    quote = detect_quote(lines)
    best, highest = dialect_of(lines, "", quote), _SINGLE
    for mark in marks:
        if not any(mark in line for line in lines):
            continue
        dialect = dialect_of(lines, mark, quote)
        score = _score(lines, dialect)
        if score > highest * (1.5 if mark == ":" else 1.0001):
            best, highest = dialect, score
    return dialect_of(lines, "", quote) if _is_one_column(lines, best) else best


def dialect_of(lines: Sequence[str], separator: str, quote: str) -> Dialect:
    """Return the dialect with this separator and quote, as the sample shows the rest."""
    spaced = f"{separator} {quote}"
    skips_space = separator not in ("", " ") and any(spaced in line for line in lines)
    dialect = Dialect(separator, quote, skips_space=skips_space)
    return replace(dialect, escape=_escape(lines, dialect))


def usual_width(lines: Sequence[str], dialect: Dialect) -> int:
    """Return how many cells most records have; of equally frequent widths, the largest.

    Damaged records count only if there are no others.
    """
    sample = [line for line in lines if line.strip()][:_MOST_LINES]
    records = Records(sample, Splitter(dialect), dialect)
    of_sound, of_damaged, damaged = Counter[int](), Counter[int](), 0
    for _, row in records:
        is_sound = records.slips.damaged.count == damaged
        (of_sound if is_sound else of_damaged)[len(row)] += 1
        damaged = records.slips.damaged.count
    return _most(of_sound or of_damaged)[0]


def detect_quote(lines: Sequence[str]) -> str:
    """Return a single quote if cells begin and end with it and no cell has a double one."""
    text = "\n".join(lines)
    edge = "[,;\t|\n]"
    doubles = len(re.findall(rf'(?:^|{edge}) ?"|"(?:$|{edge})', text))
    singles = len(re.findall(rf"(?:^|{edge}) ?'[^'\n]*'(?:$|(?={edge}))", text))
    return "'" if singles > 2 and singles > doubles else '"'


def _escape(lines: Sequence[str], dialect: Dialect) -> str:
    r"""Return the backslash if more records fit when it escapes quotes than when they are doubled.

    A path as "C:\Data\" ends in one that escapes nothing.
    """
    lines = [line for line in lines if line.strip()][:_MOST_LINES]
    if not any(BACKSLASH + dialect.quote in line for line in lines):
        return ""
    plain, escaped = (
        _fitting(_read(lines, replace(dialect, escape=escape))) for escape in ("", BACKSLASH)
    )
    return BACKSLASH if escaped > plain else ""


def _read(lines: Sequence[str], dialect: Dialect) -> tuple[Rows, int]:
    """Return the rows of the sample, what is quoted hidden, and how many are damaged."""
    records = Records(lines, Splitter(dialect, hides_quoted=True), dialect)
    rows = [row for _, row in records]
    return rows, records.slips.damaged.count


def _fitting(read: tuple[Rows, int]) -> int:
    rows, damaged = read
    return _most(Counter(map(len, rows)))[1] - damaged


def _most(widths: Counter[int]) -> tuple[int, int]:
    return max(widths.items(), key=lambda pair: (pair[1], pair[0]), default=(0, 0))


def _score(lines: Sequence[str], dialect: Dialect) -> float:
    if dialect.separator == ":":
        lines = [_CLOCK_OR_ADDRESS.sub("0", line) for line in lines]
    rows, _ = _read(lines, dialect)
    width, count = _most(Counter(len(row) for row in rows if len(row) > 1))
    agreeing = [row for row in rows if len(row) == width]
    if not width or (dialect.separator == " " and not _has_values(agreeing, width)):
        return 0.0
    cells = [cell for row in agreeing for cell in row][:_MOST_CELLS]
    clean = sum(_is_clean(cell, dialect.separator) for cell in cells) / len(cells)
    return count / len(rows) * clean**2 * (1 - 1 / width)


def _has_values(rows: Rows, width: int) -> bool:
    """Return whether spaces may separate cells: they hold values in two columns or more.

    These are half of the columns or more that are neither quoted nor empty.
    """
    kinds = [
        [kind_of(row[place]) for row in rows if row[place] != HIDDEN] for place in range(width)
    ]
    plain = [column for column in kinds if 2 * column.count(Kind.EMPTY) < len(column)]
    values = sum(2 * sum(kind in _VALUES for kind in column) > len(column) for column in plain)
    return values >= 2 and 2 * values >= len(plain)


def _is_clean(cell: str, separator: str) -> bool:
    """Return whether a cell looks like one value, not like several or a part of one."""
    if kind_of(cell) != Kind.TEXT:
        return True
    if separator == "," and cell.startswith(" "):
        return " " not in cell.strip()
    if separator == " ":
        return cell[-1] not in ",;"
    return not any(mark in cell for mark in ";\t|" if mark != separator)


def _is_one_column(lines: Sequence[str], dialect: Dialect) -> bool:
    """Return whether the separator is part of numbers or dates, and missing in the header."""
    if not dialect.separator or dialect.separator in lines[0] or len(lines) < 2:
        return False
    return all(kind_of(line) in (Kind.NUMBER, Kind.DATE, Kind.MISSING) for line in lines[1:])
