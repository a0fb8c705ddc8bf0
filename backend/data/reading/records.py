"""The records of a text table, with the number of the line where each begins.

A line is read strictly. If its quotes are damaged, or it lacks the width that most records have, it
is read in the way in which it has that width, if there is one, and named in what is said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TextIO

from backend.data.errors import SourceUnusable
from backend.data.reading.dialect import BACKSLASH, Dialect
from backend.data.reading.splitting import Split, Splitter, with_thousands
from backend.data.reading.understood import Occurrences

_LONGEST_LINE = 10_000_000
_LONGEST_RECORD = 10_000_000
_MOST_LINES_OF_RECORD = 1_000
_LEAST_WIDTH = 3  # at which a line is tried with another separator
_OTHER_SEPARATORS = (";", "\t", "|", ",")

Record = tuple[int, list[str]]


@dataclass
class Slips:
    """What was odd in the lines of a text."""

    damaged: Occurrences = field(default_factory=Occurrences)
    otherwise: Occurrences = field(default_factory=Occurrences)
    thousands: Occurrences = field(default_factory=Occurrences)
    joined: Occurrences = field(default_factory=Occurrences)
    zeros: int = 0


class Records:
    """The records of lines that have not been read; `width` is that of most, 0 if unknown."""

    def __init__(
        self, lines: Iterable[str], splitter: Splitter, dialect: Dialect, width: int = 0
    ) -> None:
        self.slips = Slips()
        self._splitter = splitter
        self._width = width
        self._separator = dialect.separator
        other_escape = "" if dialect.escape else BACKSLASH
        self._escaped_otherwise = Splitter(replace(dialect, escape=other_escape))
        self._separated_otherwise = [
            Splitter(replace(dialect, separator=mark))
            for mark in _OTHER_SEPARATORS
            if dialect.separator and mark != dialect.separator
        ]
        self._lines = iter(lines)
        self._again: list[str] = []  # lines wrongly read as part of a record, last first
        self.number = 0  # of the line that was read last

    def __iter__(self) -> Iterator[Record]:
        """Yield each record that is not blank."""
        while (line := self._next_line()) is not None:
            first = self.number
            cells = self._cells(line)
            if cells != [""]:
                yield first, cells

    def _next_line(self) -> str | None:
        line = self._again.pop() if self._again else next(self._lines, None)
        if line is None:
            return None
        self.number += 1
        if "\0" in line:
            self.slips.zeros += line.count("\0")
            line = line.replace("\0", "")
        return line

    def _put_back(self, lines: list[str]) -> None:
        self._again += reversed(lines)
        self.number -= len(lines)

    def _cells(self, line: str) -> list[str]:
        bare = line.rstrip("\r\n")
        found = self._splitter.split(bare)
        if found.is_open:
            return self._over_lines(line, found)
        if found.is_sound and (self._fits(found.cells) or bare == ""):
            return found.cells
        if not found.is_sound:
            return self._damaged(bare)
        return self._of_other_width(bare, found.cells)

    def _fits(self, cells: list[str]) -> bool:
        return not self._width or len(cells) == self._width

    def _over_lines(self, line: str, begun: Split) -> list[str]:
        """Return the cells of a record that goes on in the next lines, or of its first line."""
        first, others = self.number, list[str]()
        cells, ending = begun.cells, _ending(line)
        split, length, are_rows = begun, len(line), True
        while split.is_open and len(others) < _MOST_LINES_OF_RECORD and length < _LONGEST_RECORD:
            following = self._next_line()
            if following is None:
                break
            others.append(following)
            length += len(following)
            bare = following.rstrip("\r\n")
            split = self._splitter.split(bare, inside=True)
            if not split.is_sound:
                break
            cells = [*cells[:-1], f"{cells[-1]}{ending}{split.cells[0]}", *split.cells[1:]]
            ending = _ending(following)
            are_rows = are_rows and self._is_row(bare)
        is_whole = split.is_sound and not split.is_open
        if is_whole and self._fits(cells):
            if are_rows:
                self.slips.joined.add(first, line)
            return cells
        alone = self._splitter.mended(line.rstrip("\r\n"), self._width)
        if is_whole and alone is None:
            return cells
        self._put_back(others)
        return self._damaged(line.rstrip("\r\n"))

    def _is_row(self, line: str) -> bool:
        """Return whether a line would be a row by itself."""
        return bool(self._width) and len(self._splitter.split(line).cells) == self._width

    def _damaged(self, line: str) -> list[str]:
        otherwise = self._escaped_otherwise.split(line)
        if self._width and _is_sound(otherwise) and self._fits(otherwise.cells):
            self.slips.otherwise.add(self.number, line)
            return otherwise.cells
        self.slips.damaged.add(self.number, line)
        return self._splitter.mended(line, self._width) or self._splitter.loosely(line)

    def _of_other_width(self, line: str, cells: list[str]) -> list[str]:
        if self._separator == "," and (whole := with_thousands(cells, self._width)):
            self.slips.thousands.add(self.number, line)
            return whole
        if self._width >= _LEAST_WIDTH:
            for splitter in self._separated_otherwise:
                found = splitter.split(line)
                if _is_sound(found) and self._fits(found.cells):
                    self.slips.otherwise.add(self.number, line)
                    return found.cells
        return cells


def bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a text. Raise SourceUnusable if one is too long."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise SourceUnusable(
                f"A line has more than {_LONGEST_LINE:,} characters. Is it a table of text?"
            )
        yield line


def _is_sound(split: Split) -> bool:
    return split.is_sound and not split.is_open


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
