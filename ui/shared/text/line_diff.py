"""Compares two texts line by line, at a cost linear in their length. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

# If a few lines repeat often, difflib's cost grows with the cube of their number.
MAX_COMPARED = 200

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def diff_lines(before: Sequence[str], after: Sequence[str], context: int) -> list[str]:
    """Return the differences, each line after a sign, with context lines; `…` between parts.

    Long texts are first divided at lines that are unique in both; a part between two such lines
    that is still long is returned as a whole, as removed and added.
    """
    lines: list[str] = []
    for group in _Matcher(before, after).get_grouped_opcodes(context):
        if lines:
            lines.append("…")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[start:end]]
            else:
                lines += [f"-{line}" for line in before[start:end]]
                lines += [f"+{line}" for line in after[new_start:new_end]]
    return lines


class _Matcher(SequenceMatcher[str]):
    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self._texts = list(before), list(after)

    def get_opcodes(self) -> list[Opcode]:
        """Return how to turn one text into the other, as difflib does."""
        if max(map(len, self._texts)) <= MAX_COMPARED:
            return super().get_opcodes()
        return list(_joined(_divided(*self._texts)))


def _divided(before: list[str], after: list[str]) -> Iterator[Opcode]:
    start = new_start = 0
    for place, new_place in [*_anchors(before, after), (len(before), len(after))]:
        part, new_part = before[start:place], after[new_start:new_place]
        for tag, i1, i2, j1, j2 in _compared(part, new_part):
            yield tag, start + i1, start + i2, new_start + j1, new_start + j2
        start, new_start = place, new_place


def _compared(before: list[str], after: list[str]) -> Iterator[Opcode]:
    """Compare two parts: equal at both ends, and in between if that is short."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    most -= head
    tail = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    end, new_end = len(before) - tail, len(after) - tail
    yield "equal", 0, head, 0, head
    if max(end, new_end) - head <= MAX_COMPARED:
        matcher = SequenceMatcher(None, before[head:end], after[head:new_end])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag, head + i1, head + i2, head + j1, head + j2
    else:
        yield "replace", head, end, head, new_end
    yield "equal", end, len(before), new_end, len(after)


def _anchors(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Return the longest list of lines, by place, that are unique in both and in the same order."""
    counts, new_counts = Counter(before), Counter(after)
    new_places = {line: place for place, line in enumerate(after) if new_counts[line] == 1}
    shared = [
        (place, new_places[line])
        for place, line in enumerate(before)
        if counts[line] == 1 and line in new_places
    ]
    return _longest_rising(shared)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs with rising second numbers, by patience sorting."""
    tops: list[int] = []  # the smallest second number that ends a subsequence of each length
    ends: list[int] = []  # the index of that pair
    before: list[int | None] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(tops, second)
        tops[length : length + 1] = [second]
        ends[length : length + 1] = [number]
        before.append(ends[length - 1] if length else None)
    rising: list[tuple[int, int]] = []
    number_or_none = ends[-1] if ends else None
    while number_or_none is not None:
        rising.append(pairs[number_or_none])
        number_or_none = before[number_or_none]
    return rising[::-1]


def _joined(opcodes: Iterator[Opcode]) -> Iterator[Opcode]:
    """Join adjacent opcodes of one kind, which difflib never returns separately."""
    last: Opcode | None = None
    for opcode in opcodes:
        if opcode[1] == opcode[2] and opcode[3] == opcode[4]:
            continue
        if last is not None and last[0] == opcode[0]:
            last = (last[0], last[1], opcode[2], last[3], opcode[4])
            continue
        if last is not None:
            yield last
        last = opcode
    if last is not None:
        yield last
