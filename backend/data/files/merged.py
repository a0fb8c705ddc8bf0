"""Merged cells in the rows of a sheet, whose value is stored once, in the first of their cells.

Over rows, a value is repeated in each. A number is repeated only in the first columns, where it
labels the rows, as a year does; elsewhere a sum would count it several times. Over columns, a
value stays in the first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from backend.data.files.extent import column_letters
from backend.data.reading.cells import Kind, kind_of
from backend.data.reading.understood import MOST_EXAMPLES, Understood

Value = float | int | str | bool | time | date | datetime | timedelta
Rows = Iterator[tuple[int, Sequence[Value]]]
Area = tuple[tuple[int, int], tuple[int, int]]  # row and column of both corners, from 0


@dataclass(frozen=True)
class Corner:
    """Where a sheet's cells begin: the line of the first row of data, and the first column."""

    line: int
    column: int


@dataclass
class _Seen:
    """How many merged cells there are of a kind, and the first of them."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, area: Area) -> None:
        self.count += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(_place(area))

    def tell(self, understood: Understood, one: str, many: str) -> None:
        if self.count:
            what = f"1 merged cell {one}" if self.count == 1 else f"{self.count:,} merged {many}"
            understood.warn(f"{what}: {', '.join(self.examples)}.")


@dataclass
class _Open:
    """A merged cell that reaches further down, and whether a row below its first was seen."""

    area: Area
    value: Value
    is_repeated: bool
    is_seen: bool = False


class Merged:
    """The merged cells of a sheet; `fill` takes its rows of data in their order."""

    def __init__(self, areas: Iterable[Area], corner: Corner) -> None:
        self._first_column = corner.column
        self._starting: dict[int, list[Area]] = {}  # by line
        self._open: dict[int, _Open] = {}  # by column
        self._repeated, self._kept = _Seen(), _Seen()
        self._wide: list[Area] = []
        tall = set()
        for area in sorted(areas):
            (top, left), (bottom, _) = area
            if top + 1 < corner.line:
                continue
            self._starting.setdefault(top + 1, []).append(area)
            if bottom > top:
                tall.add(left - corner.column)
        self._labels = next(place for place in range(len(tall) + 1) if place not in tall)

    def fill(self, rows: Iterable[tuple[int, Sequence[Value]]]) -> Rows:
        """Yield the rows, with the values of merged cells repeated."""
        for line, row in rows:
            self._begin(line, row)
            yield line, self._filled(line, row) if self._open else row

    def tell(self, understood: Understood, left_out: set[int]) -> None:
        """Report what was repeated, and what was not; lines that were left out do not matter."""
        self._repeated.tell(
            understood,
            "reaches over several rows; its value is repeated in each",
            "cells reach over several rows; their value is repeated in each",
        )
        because = "which stays in the first of them, because a sum would count it several times"
        self._kept.tell(
            understood,
            f"reaches over several rows with a number, {because}",
            f"cells reach over several rows with a number, {because}",
        )
        wide = _Seen()
        for area in self._wide:
            if area[0][0] + 1 not in left_out:
                wide.add(area)
        wide.tell(
            understood,
            "reaches over several columns; its value is in the first of them",
            "cells reach over several columns; their value is in the first of them",
        )

    def _begin(self, line: int, row: Sequence[Value]) -> None:
        for area in self._starting.pop(line, ()):
            (top, left), (bottom, right) = area
            column = left - self._first_column
            if not 0 <= column < len(row) or row[column] == "":
                continue
            if right > left:
                self._wide.append(area)
            if bottom > top:
                value = row[column]
                is_repeated = column < self._labels or not _is_number(value)
                self._open[column] = _Open(area, value, is_repeated)

    def _filled(self, line: int, row: Sequence[Value]) -> Sequence[Value]:
        cells = list(row)
        for column, merged in list(self._open.items()):
            (top, _), (bottom, _) = merged.area
            if line > bottom + 1:
                del self._open[column]
            elif line > top + 1 and cells[column] == "":
                self._note(merged)
                if merged.is_repeated:
                    cells[column] = merged.value
        return cells

    def _note(self, merged: _Open) -> None:
        if not merged.is_seen:
            merged.is_seen = True
            (self._repeated if merged.is_repeated else self._kept).add(merged.area)


def _is_number(value: Value) -> bool:
    if isinstance(value, str):
        return kind_of(value) == Kind.NUMBER
    return isinstance(value, int | float | timedelta) and not isinstance(value, bool)


def _place(area: Area) -> str:
    return ":".join(f"{column_letters(column + 1)}{row + 1}" for row, column in area)
