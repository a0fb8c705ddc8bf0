"""Lines split into cells, with the number of the line where each record begins.

An unclosed quote would swallow the rest of the file: if a record over several lines does not have
the width of the others, its first line is read by itself, with its quotes as they are.
"""

import csv
from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from backend.data.errors import SourceUnusable
from backend.data.reading.dialect import Dialect, split
from backend.data.reading.understood import Occurrences

_LONGEST_LINE = 10_000_000
_MOST_LINES_OF_RECORD = 1_000
_MOST_UNCLOSED = 50

Record = tuple[int, list[str]]


class Records:
    """The records of an open text; `expected` is their width, once known."""

    def __init__(self, file: TextIO, dialect: Dialect, skipped_lines: int) -> None:
        self.dialect = dialect
        self.expected = 0
        self._last_width = 0
        self.unclosed = Occurrences()
        self.zeros = 0
        self._lines = bounded_lines(file)
        self._number = sum(1 for _ in islice(self._lines, skipped_lines))
        self._again: list[str] = []  # lines wrongly read as part of a record, last first
        self._pending: list[str] = []  # lines of the record being read

    def __iter__(self) -> Iterator[Record]:
        """Yield each record that is not blank."""
        while True:
            reader = self._reader()
            try:
                for row in reader:
                    yield from self._checked(row)
                    if self._again:
                        break  # the reader only reads lines in order: start again
                else:
                    return
            except csv.Error:
                if not self._pending:
                    raise
                yield from self._first_line_alone()

    def _reader(self) -> Iterator[list[str]]:
        takes_quotes = self.unclosed.count < _MOST_UNCLOSED
        return self.dialect.reader(self._feed(), takes_quotes=takes_quotes)

    def _feed(self) -> Iterator[str]:
        while True:
            line = self._again.pop() if self._again else next(self._lines, None)
            if line is None:
                return
            self._pending.append(line)
            if len(self._pending) > _MOST_LINES_OF_RECORD:
                raise csv.Error
            if "\0" in line:
                self.zeros += line.count("\0")
                line = line.replace("\0", "")
            yield line

    def _checked(self, row: list[str]) -> Iterator[Record]:
        first, count = self._number + 1, len(self._pending)
        if count > 1 and self._is_torn(row):
            yield from self._first_line_alone()
            return
        self._number += count
        self._pending.clear()
        if row:
            self._last_width = len(row)
            yield first, row

    def _is_torn(self, row: list[str]) -> bool:
        """Return whether a record over several lines is probably several records."""
        if self.dialect.quote not in self._pending[-1]:  # the file ends inside quotes
            return True
        expected = self.expected or self._last_width
        first = len(split(self._pending[0], self.dialect))
        return bool(expected) and len(row) != expected and first == expected

    def _first_line_alone(self) -> Iterator[Record]:
        line, *others = self._pending
        self._pending.clear()
        self._again += reversed(others)
        self._number += 1
        self.unclosed.add(self._number, line)
        yield self._number, split(line, self.dialect)


def bounded_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a text. Raise SourceUnusable if one is too long."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise SourceUnusable(
                f"A line has more than {_LONGEST_LINE:,} characters. Is it a table of text?"
            )
        yield line
