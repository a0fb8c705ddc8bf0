"""Which rows that are labelled as totals are sums of others: a pure rule over their figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Sums:
    """The figures of totals, and the sums of the rows between them.

    Each column of `figures` has a value for each total, each of `between` the sums of the rows
    before the first total, between two, and after the last; `rows` says how many these are.
    `is_plain` says of each total whether its label has no other words.
    """

    is_plain: Sequence[bool]
    rows: Sequence[int]
    figures: list[list[float | None]]
    between: list[list[float]]


def sum_of_others(sums: Sums) -> int | None:
    """Return the number of the total that is the sum of all other rows, if there is one."""
    count = len(sums.is_plain)
    rows = sum(sums.rows) + count - 1
    whole = [
        sum(between) + sum(own or 0 for own in figures)
        for figures, between in zip(sums.figures, sums.between, strict=True)
    ]
    for number in reversed(range(count)):
        own = [figures[number] for figures in sums.figures]
        others = [all_ - (one or 0) for all_, one in zip(whole, own, strict=True)]
        agreeing, are_most = agreeing_with(own, others)
        if any(agreeing) and (sums.is_plain[number] or (are_most and rows > 1)):
            return number
    return None


def are_sums(sums: Sums) -> bool:
    """Return whether each total is the sum of rows above it, down from another total or the start.

    A total closes those that it includes: the next one of its level begins below it. One of them
    must be no accident: a company named Total may be equal to one other row.
    """
    until = [list(accumulate(between)) for between in sums.between]
    rows_until = list(accumulate(sums.rows))
    starts = [-1]  # totals below which a sum may begin; -1 is the start of the table
    is_evident = False
    for number, is_plain in enumerate(sums.is_plain):
        own = [figures[number] for figures in sums.figures]
        for place in reversed(range(len(starts))):
            start = starts[place]
            rows = rows_until[number] - (rows_until[start] if start >= 0 else 0)
            others = [column[number] - (column[start] if start >= 0 else 0) for column in until]
            agreeing, are_most = agreeing_with(own, others)
            if rows and are_most:
                break
        else:
            return False
        is_evident = is_evident or (any(agreeing) and (is_plain or rows > 1))
        starts[place + 1 :] = [number]
    return is_evident


def agreeing_with(own: Sequence[float | None], others: Sequence[float]) -> tuple[list[float], bool]:
    """Return the figures of a row that are the sums of others, and whether these are most of them.

    A total may have others, too, such as an average; a year is not the sum of years.
    """
    pairs = [(one, sum_) for one, sum_ in zip(own, others, strict=True) if one is not None]
    agreeing = [
        one
        for one, sum_ in pairs
        if abs(one - sum_) <= max(abs(sum_) * 1e-6, min(0.011, abs(sum_) * 0.01))
    ]
    return agreeing, len(agreeing) > len(pairs) // 2
