"""How far a sheet reaches, counted in its XML before anything holds all of its cells."""

import re

from backend.data.errors import SourceUnusable

MOST_CELLS = 2_000_000  # empty ones included: calamine holds them all, in 300 MB

# Never beyond the next tag: each byte is read once, whatever the sheet holds.
PREFIX = rb"<(?:[\w.-]++:)?"
cell_tag = re.compile(PREFIX + rb"c[\s/>]")
_place = re.compile(PREFIX + rb"""c\s[^<>]*?\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_step = re.compile(
    PREFIX
    + rb"(?:(?P<row>row)|c)(?=[\s/>])"
    + rb"""(?:[^<>]*?\sr\s*=\s*["'](?P<letters>[A-Za-z]{0,3})(?P<digits>[0-9]{1,7})["'])?"""
)


class Extent:
    """The rows and columns of one sheet, and its cells, as far as its XML has been read.

    A cell that does not say its place stands after the one before it, and a row likewise.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._columns = 0
        self._cells = 0
        self._row = 0
        self._column = 0

    def add(self, xml: bytes) -> None:
        """Count what a piece of the XML holds. Raise SourceUnusable if the sheet is too large."""
        cells = len(cell_tag.findall(xml))
        if not cells:
            return
        self._cells += cells
        places = _place.findall(xml)
        if len(places) < cells:
            self._walk(xml)
        else:
            self._note(places)
        self._check()

    def _note(self, places: list[tuple[bytes, bytes]]) -> None:
        """Take the places of cells that all say theirs, as those of honest workbooks do."""
        columns = {letters: column_number(letters) for letters in {p[0] for p in places}}
        self._columns = max(self._columns, *columns.values())
        self._row, self._column = int(places[-1][1]), columns[places[-1][0]]
        self._rows = max(self._rows, self._row)

    def _walk(self, xml: bytes) -> None:
        for step in _step.finditer(xml):
            digits = step["digits"]
            if step["row"]:
                self._row = int(digits) if digits else self._row + 1
                self._column = 0
                continue
            if digits and step["letters"]:
                self._row, self._column = int(digits), column_number(step["letters"])
            else:
                self._column += 1
            self._rows = max(self._rows, self._row)
            self._columns = max(self._columns, self._column)

    def _check(self) -> None:
        if self._rows * self._columns > MOST_CELLS:
            raise SourceUnusable(
                f"A sheet reaches over {self._rows:,} rows and {self._columns:,} columns, empty "
                f"cells included; at most {MOST_CELLS:,} cells can be read. Save it as CSV."
            )
        if self._cells > MOST_CELLS:
            raise SourceUnusable(
                f"A sheet holds more than {MOST_CELLS:,} cells, which is the most that can be "
                "read. Save it as CSV."
            )


def column_number(letters: bytes) -> int:
    """Return the number of a column by its letters: 1 for A."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def column_letters(number: int) -> str:
    """Return the letters of a column by its number: A for 1."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
