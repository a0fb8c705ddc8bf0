"""Paths: the positions of a history that one branch shows. Pure.

Positions are only ever added at the end, so a branch is a few ranges: those shared with other
branches, then its own.
"""

from dataclasses import dataclass
from typing import Any

Range = tuple[int, int | None]


@dataclass(frozen=True)
class Path:
    """Ascending ranges, both ends included; the last one may be open: None as its end."""

    ranges: tuple[Range, ...]

    @classmethod
    def read(cls, stored: Any) -> "Path":
        """Return a stored path; None, for a history that was never forked, means all positions."""
        return WHOLE if stored is None else cls(tuple((first, last) for first, last in stored))

    def dump(self) -> list[list[int | None]]:
        """Return the path in its stored form."""
        return [list(ends) for ends in self.ranges]

    def is_empty(self, last: int) -> bool:
        """Return whether it shows nothing of a history whose newest position is `last`."""
        return not self.close(last).ranges

    def has(self, position: int) -> bool:
        """Return whether the path contains a position."""
        return any(
            first <= position and (last is None or position <= last) for first, last in self.ranges
        )

    def cut(self, before: int) -> "Path":
        """Return the part before a position."""
        return Path(
            tuple(
                (first, before - 1 if last is None else min(last, before - 1))
                for first, last in self.ranges
                if first < before
            )
        )

    def close(self, last: int) -> "Path":
        """Return the path closed at `last`, the newest position of the history."""
        return self.cut(last + 1)

    def extend(self, first: int) -> "Path":
        """Return the closed path extended by all positions from `first`."""
        *shared, (begins, ends) = self.ranges or ((first, first - 1),)
        if ends == first - 1:
            return Path((*shared, (begins, None)))
        return Path((*self.ranges, (first, None)))

    def after(self, position: int) -> "Path":
        """Return the part after a position."""
        return Path(
            tuple(
                (max(first, position + 1), last)
                for first, last in self.ranges
                if last is None or last > position
            )
        )


WHOLE = Path(((1, None),))
NOTHING = Path(())
