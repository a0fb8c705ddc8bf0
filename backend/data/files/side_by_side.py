"""Tables beside each other on one sheet, with an empty column between them. Pure, over its rows.

An empty column may also be a margin within one table. There are two tables if they say so: some
rows belong to one of them alone, which ends earlier or begins later, or both name the same columns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from backend.data.files.extent import column_letters

Block = tuple[int, int]  # its first and last column, from 0


@dataclass
class _Extent:
    """Which rows a block has, by their numbers, and in how many it has several cells alone."""

    block: Block
    header: list[str] = field(default_factory=list)
    first: int = -1
    last: int = -1
    filled: int = 0
    alone: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether there is no gap in its rows."""
        return self.filled == self.last - self.first + 1

    def add(self, number: int, cells: Sequence[str], *, is_alone: bool) -> None:
        """Count a row that has some of its cells."""
        self.first = number if self.first < 0 else self.first
        self.last = number
        self.filled += 1
        self.alone += is_alone and len(cells) > 1
        if not self.header and len(cells) == self.block[1] - self.block[0] + 1:
            self.header = [cell.strip().lower() for cell in cells]


def find_blocks(rows: Iterable[Sequence[object]]) -> list[Block]:
    """Return the runs of columns with an empty one between them."""
    filled: set[int] = set()
    for row in rows:
        filled |= {place for place, value in enumerate(row) if value != ""}
    blocks: list[Block] = []
    for place in sorted(filled):
        if blocks and blocks[-1][1] == place - 1:
            blocks[-1] = (blocks[-1][0], place)
        else:
            blocks.append((place, place))
    return blocks


def are_tables(rows: Iterable[Sequence[object]], blocks: Sequence[Block]) -> bool:
    """Return whether blocks are tables of their own, and not parts of one."""
    if len(blocks) < 2 or any(left == right for left, right in blocks):
        return False
    extents = [_Extent(block) for block in blocks]
    for number, row in enumerate(rows):
        parts = [[str(v) for v in row[left : right + 1] if v != ""] for left, right in blocks]
        some = sum(map(bool, parts))
        for extent, cells in zip(extents, parts, strict=True):
            if cells:
                extent.add(number, cells, is_alone=some == 1)
    names = [set(extent.header) for extent in extents]
    have_same = any(a & b for n, a in enumerate(names) for b in names[n + 1 :])
    are_headed = all(names)
    end_apart = any(one.alone for one in extents) and all(one.is_whole for one in extents)
    return are_headed and (have_same or end_apart)


def in_letters(block: Block, first_column: int) -> str:
    """Return a block's columns as a spreadsheet names them: A:C."""
    left, right = (column_letters(first_column + place + 1) for place in block)
    return left if left == right else f"{left}:{right}"
