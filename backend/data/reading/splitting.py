"""Splits a line into cells: strictly, or, if its quotes are damaged, so that it has a given width.

Strictly means as RFC 4180 says: a cell is quoted as a whole or not at all, and a quote within
quotes is doubled or escaped. Two things are allowed beside that: spaces around quotes, and quotes
within a cell that is not quoted, in pairs or behind a digit as in 5" pipe; but single ones in one
cell only, because otherwise they may have enclosed a separator. Pure.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from backend.data.reading.cells import Kind, kind_of
from backend.data.reading.dialect import Dialect

_NOWHERE = "\0"  # a separator that no line contains
_MOST_READINGS = 20_000  # of a line that is mended
HIDDEN = "q"  # in the place of what is quoted
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}")
_THREE = re.compile(r"[0-9]{3}(?:\.[0-9]+)?")


class Split(NamedTuple):
    """The cells of a line; if it is open, the last one goes on in the next line."""

    cells: list[str]
    is_sound: bool = True
    is_open: bool = False


class Splitter:
    """Splits the lines of one dialect; it may hide what is quoted, which misleads about others."""

    def __init__(self, dialect: Dialect, *, hides_quoted: bool = False) -> None:
        self.separator = dialect.separator or _NOWHERE
        self.quote = dialect.quote
        self._hides_quoted = hides_quoted
        self._skips_space = dialect.skips_space
        quote = re.escape(dialect.quote)
        space = "" if self.separator == " " else " *"
        closing = f"{quote}{space}(?={re.escape(self.separator)}|\\Z)"
        self._opening = re.compile(space + quote)
        inside, escaped = f"[^{quote}]|{quote}{quote}", f"{quote}({quote})"
        if dialect.escape:
            mark = re.escape(dialect.escape)
            inside = f"[^{quote}{mark}]|{quote}{quote}|{mark}[{quote}{mark}]|{mark}"
            escaped = f"[{quote}{mark}]([{quote}{mark}])"
        self._quoted = re.compile(f"((?:{inside})*+)(?:({closing})|\\Z)", re.DOTALL)
        self._escaped = re.compile(escaped)
        self._escape = dialect.escape

    def split(self, line: str, *, inside: bool = False) -> Split:
        """Return the cells of a line without its end, which may begin inside quotes."""
        if self.quote not in line:
            return Split([line], is_open=True) if inside else Split(self._plain(line))
        cells: list[str] = []
        place = single = 0
        while True:
            opening = None if inside else self._opening.match(line, place)
            if opening is None and not inside:
                end = line.find(self.separator, place)
                end = len(line) if end < 0 else end
                cells += self._plain(line[place:end])
                single += self._single(line[place:end])
            else:
                found = self._quoted.match(line, opening.end() if opening else place)
                if found is None:
                    return Split(cells, is_sound=False)
                cells.append(self._unescaped(found[1]))
                if found[2] is None:
                    return Split(cells, is_open=True)
                end = found.end()
            if end == len(line):
                return Split(cells, is_sound=single < 2)
            place, inside = end + 1, False

    def _single(self, cell: str) -> int:
        """Return 0 if the quotes of a cell that is not quoted are in pairs, 1 for inches, or 2."""
        count = cell.count(self.quote)
        if count % 2 == 0:
            return 0
        return 1 if count == 1 and cell[cell.index(self.quote) - 1].isdigit() else 2

    def loosely(self, line: str) -> list[str]:
        """Return the cells between all separators; quotes around one of them are left out."""
        return [self._one(piece) for piece in line.split(self.separator)]

    def mended(self, line: str, width: int) -> list[str] | None:
        """Return the cells of a line with damaged quotes in the reading with the fewest faults.

        None if no reading has this width.
        """
        pieces = line.split(self.separator)
        extra = len(pieces) - width
        if width < 2 or extra < 0 or width * (extra + 1) ** 2 > _MOST_READINGS:
            return None
        # By the number of cells, and of the pieces in them: faults, and where the last one begins.
        best: list[dict[int, tuple[int, int]]] = [{0: (0, 0)}]
        for _ in range(width):
            best.append(self._with_another(best[-1], pieces, width - len(best)))
        if len(pieces) not in best[width]:
            return None
        cells, end = [], len(pieces)
        for count in range(width, 0, -1):
            start = best[count][end][1]
            cells.append(self._one(self.separator.join(pieces[start:end])))
            end = start
        return cells[::-1]

    def _with_another(
        self, ends: dict[int, tuple[int, int]], pieces: Sequence[str], missing: int
    ) -> dict[int, tuple[int, int]]:
        """Return the best readings with one more cell; `missing` more must follow."""
        found: dict[int, tuple[int, int]] = {}
        for start, (faults, _) in ends.items():
            for end in range(start + 1, len(pieces) - missing + 1):
                own = self._faults(pieces, start, end)
                if own is not None and (end not in found or faults + own < found[end][0]):
                    found[end] = (faults + own, start)
        return found

    def _faults(self, pieces: Sequence[str], start: int, end: int) -> int | None:
        """Return how wrong the quotes of a cell of these pieces are; None if it has none.

        The separators in a cell are quoted, or one of both quotes is lost.
        """
        begins = self._opening.match(pieces[start]) is not None
        ends = pieces[end - 1].rstrip(" ").endswith(self.quote)
        if end - start == 1 and not begins:
            return 0
        if not (begins or ends):
            return None
        whole = self.separator.join(pieces[start:end]).strip(" ")
        if self._is_quoted(whole):
            return 0
        if not (begins and ends) or len(whole) == 1:
            return whole.count(self.quote) + (end - start > 1)
        return max(1, whole[1:-1].replace(self.quote * 2, "").count(self.quote))

    def _is_quoted(self, cell: str) -> bool:
        split = self.split(cell)
        is_whole = split.is_sound and not split.is_open and len(split.cells) == 1
        return is_whole and self._opening.match(cell) is not None

    def _one(self, cell: str) -> str:
        """Return the text of a cell whose quotes may be wrong: a value has none."""
        bare = cell.strip(" ")
        if len(bare) > 1 and bare.startswith(self.quote) and bare.endswith(self.quote):
            return self._unescaped(bare[1:-1])
        if bare.startswith(self.quote) and kind_of(bare[1:]) in (Kind.NUMBER, Kind.DATE):
            return bare[1:]
        return self._unspaced(cell)

    def _plain(self, text: str) -> list[str]:
        return [self._unspaced(cell) for cell in text.split(self.separator)]

    def _unspaced(self, cell: str) -> str:
        return cell.lstrip(" ") if self._skips_space else cell

    def _unescaped(self, content: str) -> str:
        if self._hides_quoted:
            return HIDDEN
        if self.quote in content or (self._escape and self._escape in content):
            return self._escaped.sub(r"\1", content)
        return content


def with_thousands(cells: Sequence[str], width: int) -> list[str] | None:
    """Return the cells with numbers whole again that the comma in `1,200` cut in two.

    None unless that, in exactly one way, gives the width.
    """
    cut = [
        place
        for place, (left, right) in enumerate(pairwise(cells))
        if _THOUSANDS.fullmatch(left) and _THREE.fullmatch(right)
    ]
    has_overlap = any(second - first == 1 for first, second in pairwise(cut))
    if has_overlap or not cut or len(cells) - len(cut) != width:
        return None
    return [
        f"{cell},{cells[place + 1]}" if place in cut else cell
        for place, cell in enumerate(cells)
        if place - 1 not in cut
    ]
