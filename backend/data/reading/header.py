"""Finds where a table begins: titles above it, and its header of one row, two rows or none.

Pure: examines the first records only, whose cells are texts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from backend.data.reading.cells import Kind, kind_of

LOOKED_AT = 300  # records
_MOST_TITLES = 30
_LEAST_LABELLED = 3  # rows
_VALUES = (Kind.NUMBER, Kind.DATE, Kind.BOOLEAN)
_LABEL = re.compile(r"\w\s*:(?:\s|$)")  # what a title says: "Stand: 30.06.2026", "Currency:"

Row = Sequence[str]


@dataclass(frozen=True)
class Header:
    """Which of the first records are titles and which the header; `cells` are the header's."""

    cells: list[str]
    width: int
    titles: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # empty: there is no header

    @property
    def first_data_row(self) -> int:
        """The index of the first record of data."""
        return max([*self.titles, *self.rows], default=-1) + 1


def find_header(rows: Sequence[Row]) -> Header:
    """Return the header among the first records of a table."""
    if margin := _left_margin(rows):
        table = find_header([_without(row, margin) for row in rows])
        return replace(table, cells=[""] * margin + table.cells, width=margin + table.width)
    width = _usual_width(rows)
    start = _first_wide(rows, width)
    titles = list(range(start))
    if start >= len(rows):
        return Header([], width, [])
    if _is_upper_half(rows, start, width):
        joined = _join(rows[start], rows[start + 1], width)
        return Header(joined, width, titles, [start, start + 1])
    body = [row for row in rows[start + 1 :] if not _begins_alike(row, rows[start])]
    if not _names_columns(rows[start], body, width):
        return Header([""] * width, width, titles)
    return _of_names(rows[start], body, width, Header([], width, titles, [start]))


def header_at(rows: Sequence[Row], place: int | None) -> Header:
    """Return the header that a person chose: the record at `place`, or none; titles are above."""
    if place is None:
        width = _usual_width(rows)
        return Header([""] * width, width, list(range(_first_wide(rows, width))))
    body = rows[place + 1 :]
    return _of_names(
        rows[place], body, _usual_width(body), Header([], 0, list(range(place)), [place])
    )


def column_names(header: Sequence[str]) -> list[str]:
    """Return the header's texts as names of columns."""
    return unique_names([" ".join(cell.split())[:120].strip() for cell in header])


def unique_names(names: Sequence[str]) -> list[str]:
    """Return them unique, ignoring case as DuckDB does; an empty one is named by its number."""
    taken: set[str] = set()
    unique = []
    for number, name in enumerate(names, 1):
        plain = name or f"column_{number}"
        candidate, count = plain, 1
        while candidate.lower() in taken:
            count += 1
            candidate = f"{plain}_{count}"
        taken.add(candidate.lower())
        unique.append(candidate)
    return unique


def _of_names(names: Row, body: Sequence[Row], usual: int, header: Header) -> Header:
    """Return the header with these names, of which there may be more or fewer than columns.

    One that lacks a name lacks that of the first column if that only labels the rows, as R and
    pandas write it; otherwise that of the last, unless hardly any row has a cell there.
    """
    width = max(usual, _last_filled(names))
    while width > len(names) and _is_rarely_filled(body, width - 1):
        width -= 1
    if len(names) + 1 == width and _labels_rows(body, width):
        return replace(header, cells=["", *names], width=width)
    return replace(header, cells=_padded(names, width), width=width)


def _is_rarely_filled(rows: Sequence[Row], place: int) -> bool:
    return 4 * _filled([row[place] for row in rows if place < len(row)]) < len(rows)


def _begins_alike(row: Row, header: Row) -> bool:
    """Return whether a row repeats the header, with more or fewer names."""
    return _filled(row) > 1 and all(one == other for one, other in zip(row, header, strict=False))


def _labels_rows(body: Sequence[Row], width: int) -> bool:
    """Return whether the first column numbers the rows, or names each beside values only."""
    rows = [row for row in body if len(row) == width]
    if len(rows) < _LEAST_LABELLED:
        return False
    labels = [row[0].strip() for row in rows]
    if labels in ([str(n + first) for n in range(len(rows))] for first in (0, 1)):
        return True
    are_names = len({*labels}) == len(rows) and all(kind_of(one) == Kind.TEXT for one in labels)
    others = [cell for row in rows for cell in row[1:] if cell.strip()]
    return are_names and all(
        kind_of(cell) in (*_VALUES, Kind.CODE, Kind.MISSING) for cell in others
    )


def _last_filled(row: Row) -> int:
    return max((place for place, cell in enumerate(row, 1) if cell.strip()), default=0)


def _usual_width(rows: Sequence[Row]) -> int:
    """Return the width of most records; of equally frequent widths, the largest."""
    widths = Counter(len(row) for row in rows[-LOOKED_AT:])
    if not widths:
        return 0
    usual = max(widths.items(), key=lambda pair: (pair[1], pair[0]))[0]
    # A separator at the end of data rows, but not of the header, does not make a column.
    body = [row for row in rows if len(row) == usual]
    while usual > 1 and all(len(row) < usual or not row[usual - 1].strip() for row in rows):
        usual -= 1
    return usual if body else 0


def _left_margin(rows: Sequence[Row]) -> int:
    """Return how many columns left of the table hold at most titles above it, or remarks below.

    0 if some record has cells both there and in the table.
    """
    begins = Counter(_first_filled(row) for row in rows if _filled(row))
    margin = begins.most_common(1)[0][0] if begins else 0
    both = any(_filled(row[:margin]) and _filled(row[margin:]) for row in rows)
    return 0 if both else margin


def _first_filled(row: Row) -> int:
    return next(place for place, cell in enumerate(row) if cell.strip())


def _without(row: Row, margin: int) -> Row:
    """Return the record's part in the table; of a title, what it says, as short as it is."""
    if not _filled(row[:margin]):
        return row[margin:]
    said = row[:margin]
    return said[: max(place for place, cell in enumerate(said, 1) if cell.strip())]


def _first_wide(rows: Sequence[Row], width: int) -> int:
    """Return the first record that is no title: it fills two cells or more, and half the width."""
    if width < 2:
        return _first_of_lone_column(rows)
    needed = min(width, max(2, (width + 1) // 2))
    for place, row in enumerate(rows[:_MOST_TITLES]):
        is_wide = _filled(row) >= needed or _is_wide_enough(row, rows, place, width)
        if is_wide and not _is_title(rows, place, width):
            return place
    return 0


def _is_title(rows: Sequence[Row], place: int, width: int) -> bool:
    """Return whether a record of several cells is a title, as `Stand: 30.06.2026;vorläufig`.

    Below it and other titles is a header that names all columns.
    """
    if not _may_be_title(rows[place], width):
        return False
    others = rows[place + 1 : place + _MOST_TITLES]
    below = next((row for row in others if not _may_be_title(row, width)), None)
    if below is None or _filled(below) < width or any(kind_of(cell) in _VALUES for cell in below):
        return False
    body = rows[rows.index(below) + 1 :]
    return sum(_vote(below, body, column) for column in range(width)) > 0


def _may_be_title(row: Row, width: int) -> bool:
    """Return whether a record may be a title, and not the upper half of a header.

    Its cells are sentences, or more than the table has; or they come first, and it is shorter than
    the table or has a label, as `Stand:`.
    """
    filled = _filled(row)
    if _last_filled(row) > width or _speaks(row):
        return True
    if filled >= width or _filled(row[:filled]) < filled:
        return False
    return len(row) < width or filled < 2 or any(_LABEL.search(cell) for cell in row)


def _speaks(row: Row) -> bool:
    """Return whether all cells are texts, of three words or more on average."""
    words = sum(len(cell.split()) for cell in row)
    return words >= 3 * len(row) and all(kind_of(cell) == Kind.TEXT for cell in row)


def _is_wide_enough(row: Row, rows: Sequence[Row], place: int, width: int) -> bool:
    """Return whether a header with gaps, from merged cells, is as wide as the table."""
    if len(row) < width or _filled(row) < 2 or place + 1 >= len(rows):
        return False
    return _filled(rows[place + 1]) >= width - 1 and bool(row[0].strip() or width > 2)


def _first_of_lone_column(rows: Sequence[Row]) -> int:
    return next((place for place, row in enumerate(rows) if _filled(row)), 0)


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell.strip())


def _names_columns(row: Row, body: Sequence[Row], width: int) -> bool:
    """Return whether a record is a header: its cells are of other kinds than those below."""
    if not body:
        return any(kind_of(cell) == Kind.TEXT for cell in row)
    votes = sum(_vote(row, body, place) for place in range(min(width, len(row))))
    if votes:
        return votes > 0
    texts = [cell for cell in row if kind_of(cell) == Kind.TEXT]
    years = [cell for cell in row if _is_year(cell)]
    return bool(texts) and (len(texts) * 2 >= _filled(row) or len(texts + years) == _filled(row))


def _vote(row: Row, body: Sequence[Row], place: int) -> int:
    """Return 1 if the cell differs from its column, -1 if it is alike, 0 if that is unclear."""
    cell = row[place]
    kinds = Counter(kind_of(other[place]) for other in body if place < len(other))
    for said_nothing in (Kind.EMPTY, Kind.MISSING):
        kinds.pop(said_nothing, None)
    if not kinds or not cell.strip():
        return 0
    usual, count = kinds.most_common(1)[0]
    own = kind_of(cell)
    if usual == Kind.TEXT:
        return -1 if _repeats(cell, body, place) else 0
    if count * 5 < sum(kinds.values()) * 4:
        return 0
    if own == usual:
        below = [other[place] for other in body if place < len(other)]
        return 0 if _is_year(cell) and not all(map(_is_year, below)) else -1
    return 1 if own in (Kind.TEXT, *_VALUES, Kind.CODE) else 0


def _repeats(cell: str, body: Sequence[Row], place: int) -> bool:
    return any(place < len(other) and other[place] == cell for other in body)


def _is_year(cell: str) -> bool:
    plain = cell.strip()
    return len(plain) == 4 and plain.isdigit() and "1900" <= plain <= "2100"


def _is_upper_half(rows: Sequence[Row], start: int, width: int) -> bool:
    """Return whether a second row of names fills the header's gaps, with rows of values below."""
    if start + 2 >= len(rows):
        return False
    upper, lower = _padded(rows[start], width), _padded(rows[start + 1], width)
    gaps = [place for place in range(width) if not upper[place].strip()]
    if not gaps or any(kind_of(cell) in _VALUES and not _is_year(cell) for cell in lower):
        return False
    named = [place for place in gaps if lower[place].strip()]
    below = rows[start + 2 : start + 12]
    return len(named) * 2 > len(gaps) and any(
        kind_of(row[place]) in _VALUES for row in below for place in named if place < len(row)
    )


def _join(upper: Row, lower: Row, width: int) -> list[str]:
    """Return '2025', '', '2026' over 'Q1', 'Q2', 'Q1' as 2025 Q1, 2025 Q2, 2026 Q1."""
    joined, group = [], ""
    for above, below in zip(_padded(upper, width), _padded(lower, width), strict=True):
        group = above.strip() or group
        both = below.strip() and group
        joined.append(f"{group} {below.strip()}" if both else (above.strip() or below.strip()))
    return joined


def _padded(row: Row, width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]
