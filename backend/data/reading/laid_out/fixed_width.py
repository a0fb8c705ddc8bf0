"""Columns of fixed width: tables whose cells are aligned by spaces, as reports are printed.

A column ends where all lines have a space. Titles above the table may cross that; so do remarks
below it and titles between pages, which are found when all lines are read.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import or_
from pathlib import Path
from typing import NamedTuple

from backend.data.reading.cells import Kind, kind_of
from backend.data.reading.detection import detect_dialect
from backend.data.reading.dialect import SEPARATORS
from backend.data.reading.encoding import Encoding
from backend.data.reading.laid_out.rewriting import is_rule, separate

_MOST_LINES = 200
_LONGEST_LINE = 2_000
_MOST_TITLES = 12
_LEAST_LINES = 3
_CLEAR_GAP = 2  # spaces: one may be within a cell
_VALUES = (Kind.NUMBER, Kind.DATE, Kind.CODE)
_NO_WORDS = (*_VALUES, Kind.EMPTY, Kind.MISSING)


class Column(NamedTuple):
    """Where a column stands in the lines that were looked at; `end` is behind it."""

    start: int
    end: int
    has_values: bool  # numbers, dates or codes


def find_aligned(lines: Sequence[str]) -> list[Column]:
    """Return the columns of a text; none if its lines are not aligned. Pure."""
    filled = [line.rstrip() for line in lines if line.strip()][:_MOST_LINES]
    filled = [line for line in filled if not is_rule(line.strip())]
    if any("\t" in line or len(line) > _LONGEST_LINE for line in filled):
        return []
    # By each line, and all those below it.
    occupied = [*accumulate(map(_occupied, reversed(filled)), or_)][::-1]
    found: list[Column] = []
    for titles in range(min(_MOST_TITLES, len(filled) - _LEAST_LINES) + 1):
        body = filled[titles:]
        columns = _columns(body, occupied[titles])
        if len(columns) > max(1, len(found)) and _is_table(body, columns):
            found = columns
            if all(_cells(body[:1], column)[0] for column in columns):
                break  # each column has a name
    return found


def cut(line: str, columns: Sequence[Column]) -> list[str]:
    """Return the cells of a line; the whole line as one cell if it does not keep to the columns.

    A longer cell than those that were looked at may stand in a gap. Pure.
    """
    gaps = [(line[left.end : right.start], left.end) for left, right in pairwise(columns)]
    if any(gap and " " not in gap for gap, _ in gaps):
        return [line.strip()]
    starts = [0, *[start + gap.rfind(" ") + 1 for gap, start in gaps]]
    cells = [line[start:end].strip() for start, end in pairwise([*starts, len(line)])]
    is_within = not any(gap.strip() for gap, _ in gaps)
    values = [cell for cell, column in zip(cells, columns, strict=True) if column.has_values]
    fits = is_within or all(kind_of(value) in _NO_WORDS for value in values)
    return cells if fits else [line.strip()]


def separate_columns(
    path: Path, encoding: Encoding, columns: Sequence[Column]
) -> tuple[Path, Encoding]:
    """Write the table with its cells separated by bars, in UTF-8; return that file."""
    return separate(path, encoding, lambda lines: _rows(lines, columns))


def _rows(lines: Iterable[str], columns: Sequence[Column]) -> Iterator[list[str]]:
    for line in lines:
        text = line.strip()
        yield cut(line.rstrip(), columns) if text and not is_rule(text) else []


def _occupied(line: str) -> int:
    """Return the places of a line that are no space, as bits; the first place is the lowest."""
    return int("".join("0" if char == " " else "1" for char in reversed(line)), 2)


def _columns(lines: Sequence[str], occupied: int) -> list[Column]:
    """Return the columns between the gaps that all lines share; the first line is the header."""
    is_blank = [bit == "0" for bit in reversed(f"{occupied:b}")]
    edges = [n for n, blank in enumerate(is_blank) if blank != (n == 0 or is_blank[n - 1])]
    columns: list[Column] = []
    for start, end in zip(edges[::2], [*edges[1::2], len(is_blank)], strict=True):
        column = _column(lines, start, end)
        if columns and not _are_apart(lines, columns[-1], column):
            columns[-1] = _column(lines, columns[-1].start, end)
        else:
            columns.append(column)
    return columns


def _column(lines: Sequence[str], start: int, end: int) -> Column:
    cells = [line[start:end].strip() for line in lines[1:]]
    filled = [cell for cell in cells if cell]
    values = sum(kind_of(cell) in _VALUES for cell in filled)
    return Column(start, end, 2 * values > len(filled))


def _are_apart(lines: Sequence[str], left: Column, right: Column) -> bool:
    """Return whether there is a gap between two columns: a single space may be within cells."""
    if right.start - left.end >= _CLEAR_GAP:
        return True
    have_names = all(_cells(lines[:1], column)[0] for column in (left, right))
    return have_names and (left.has_values or right.has_values)


def _is_table(lines: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether columns are clearly apart, hold values, and are not separated otherwise."""
    gaps = [right.start - left.end for left, right in pairwise(columns)]
    if max(gaps, default=0) < _CLEAR_GAP or not any(c.has_values for c in columns[1:]):
        return False
    separator = detect_dialect(lines, [mark for mark in SEPARATORS if mark != " "]).separator
    return not separator or not _separates(separator, lines, columns)


def _separates(separator: str, lines: Sequence[str], columns: Sequence[Column]) -> bool:
    """Return whether it stands between cells, as in a padded `a,  b`; not in 1.234,56."""
    cells = [cell for column in columns for cell in _cells(lines, column) if separator in cell]
    within = [cell for cell in cells if cell[-1] != separator and kind_of(cell) in _VALUES]
    return 2 * len(within) < len(cells)


def _cells(lines: Sequence[str], column: Column) -> list[str]:
    return [line[column.start : column.end].strip() for line in lines]
