"""Which rows are made of others: totals, averages, balances and results. Pure, over figures.

A row that calls itself so is left out only if its figures are what it says; otherwise it is a row
as others, and is named.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations

from backend.data.reading.left_out.labels import STATISTICS, Label
from backend.data.reading.left_out.sums import Sums, agreeing_with, are_sums, sum_of_others

Figures = Sequence[float | None]
_BALANCES = (Label.OPENING, Label.CLOSING)
_WEAK = (Label.NONE, Label.CLOSING, Label.RESULT)  # rows as others, if their figures say so


@dataclass(frozen=True)
class Candidate:
    """A row that may be made of others: what it calls itself, and its figures by column."""

    label: Label
    is_plain: bool
    figures: Figures


@dataclass(frozen=True)
class Part:
    """The other rows between two candidates, by column: sum, count, smallest, largest, first."""

    rows: int
    sums: Sequence[float]
    counts: Sequence[int]
    least: Figures
    most: Figures
    first: Figures

    def __add__(self, other: "Part") -> "Part":
        return Part(
            self.rows + other.rows,
            [a + b for a, b in zip(self.sums, other.sums, strict=True)],
            [a + b for a, b in zip(self.counts, other.counts, strict=True)],
            _either(min, self.least, other.least),
            _either(max, self.most, other.most),
            [b if a is None else a for a, b in zip(self.first, other.first, strict=True)],
        )


@dataclass(frozen=True)
class Table:
    """The candidates of a table with their numbers, and the parts around them, one more."""

    candidates: Sequence[tuple[int, Candidate]]
    parts: Sequence[Part]

    def numbers(self, *labels: Label) -> set[int]:
        """Return the numbers of the candidates that call themselves so."""
        return {number for number, one in self.candidates if one.label in labels}

    def without(self, out: Iterable[int], as_rows: Iterable[int] = ()) -> "Table":
        """Return the table without some candidates; others of them become rows as others."""
        out, as_rows = set(out), set(as_rows)
        kept: list[tuple[int, Candidate]] = []
        parts = [self.parts[0]]
        for (number, one), part in zip(self.candidates, self.parts[1:], strict=True):
            if number in as_rows:
                parts[-1] = parts[-1] + _as_part(one.figures) + part
            elif number in out:
                parts[-1] = parts[-1] + part
            else:
                kept.append((number, one))
                parts.append(part)
        return Table(kept, parts)


@dataclass
class Found:
    """The numbers of the rows that are made of others; `of_others`: a sum of all other rows."""

    made: set[int] = field(default_factory=set)
    of_others: int | None = None


def find_rollups(candidates: Sequence[Candidate], parts: Sequence[Part]) -> Found:
    """Return which candidates are made of other rows."""
    table = Table(list(enumerate(candidates)), parts)
    found = Found(_statistics(table))
    table = table.without(found.made, table.numbers(*STATISTICS) - found.made)
    balances = _balances(table)
    unpaired = table.numbers(Label.OPENING) - balances
    found.made |= balances
    table = table.without(balances, unpaired)
    weak = [label for label in _WEAK if table.numbers(label)]
    for count in range(len(weak) + 1):
        for as_rows in combinations(weak, count):
            if _totals(table.without((), table.numbers(*as_rows)), found):
                return found
    return found


def _totals(table: Table, found: Found) -> bool:
    """Add the totals, with the results that are made of them; return whether all are explained."""
    results = table.numbers(Label.RESULT)
    bare = table.without(results)
    numbers = [number for number, _ in bare.candidates]
    out: set[int] = set()
    of_others = None
    if numbers:
        sums = _as_sums(bare)
        place = sum_of_others(sums)
        if place is not None:
            of_others = numbers[place]
            out = {of_others}
        elif are_sums(sums):
            out = set(numbers)
        else:
            return False
    if results:
        rest = table.without((), set(numbers) - out)
        if not _are_results(rest):
            return False
        out |= results
    found.made |= out
    found.of_others = of_others
    return bool(out)


def _as_sums(table: Table) -> Sums:
    columns = range(len(table.parts[0].sums))
    return Sums(
        [one.is_plain for _, one in table.candidates],
        [part.rows for part in table.parts],
        [[one.figures[column] for _, one in table.candidates] for column in columns],
        [[part.sums[column] for part in table.parts] for column in columns],
    )


def _statistics(table: Table) -> set[int]:
    """Return the averages and the like of all rows, or of those right above them.

    One figure alone may be equal by chance, as that of a person named Max.
    """
    if not table.numbers(*STATISTICS):
        return set()
    sure, doubtful = set(), set()
    whole = above = reduce(Part.__add__, table.parts)
    for part, (number, one) in zip(table.parts, table.candidates, strict=False):
        above = part if part.rows else above
        for rows in (whole, above) if one.label in STATISTICS else ():
            if rows.rows < 2:
                continue
            agreeing, are_most = _is_statistic(one, rows)
            if are_most and (agreeing > 1 or one.label is Label.AVERAGE):
                sure.add(number)
            elif are_most:
                doubtful.add(number)
    is_summary = bool(sure) or len(doubtful) > 1 or bool(table.numbers(Label.TOTAL))
    return sure | doubtful if is_summary else sure


def _is_statistic(one: Candidate, rows: Part) -> tuple[int, bool]:
    """Return how many of a row's figures are what it says, and whether these are most of them."""
    expected: dict[Label, Figures] = {
        Label.AVERAGE: [
            sum_ / count if count else None
            for sum_, count in zip(rows.sums, rows.counts, strict=True)
        ],
        Label.MINIMUM: rows.least,
        Label.MAXIMUM: rows.most,
        Label.COUNT: [float(count) for count in rows.counts],
    }
    pairs = [
        (figure, other)
        for figure, other in zip(one.figures, expected[one.label], strict=True)
        if figure is not None and other is not None
    ]
    agreeing = sum(abs(figure - other) <= _rounding(figure) for figure, other in pairs)
    return agreeing, agreeing > len(pairs) // 2


def _rounding(figure: float) -> float:
    """Return how far a figure may be from what it was rounded from, by its own decimals."""
    whole, _, decimals = repr(float(figure)).partition(".")
    return 0.5 * 10.0 ** -len(decimals.rstrip("0")) + abs(figure) * 1e-9 if "e" not in whole else 0


def _balances(table: Table) -> set[int]:
    """Return the pairs of balances whose difference is what moved between them, in either order."""
    out: set[int] = set()
    before: int | None = None
    for place, (_, one) in enumerate(table.candidates):
        if one.label not in _BALANCES:
            continue
        if before is None or table.candidates[before][1].label is one.label:
            before = place
            continue
        moved = reduce(Part.__add__, table.parts[before + 1 : place + 1])
        ends = (table.candidates[before], table.candidates[place])
        opening, closing = sorted(ends, key=lambda end: end[1].label is Label.CLOSING)
        if moved.rows and _is_moved(opening[1].figures, closing[1].figures, moved.sums):
            out |= {opening[0], closing[0]}
            before = None
        else:
            before = place
    return out


def _is_moved(opening: Figures, closing: Figures, moved: Sequence[float]) -> bool:
    """Return whether a closing balance is the opening one and what moved, or what moved alone."""
    with_opening = [(start or 0.0) + sum_ for start, sum_ in zip(opening, moved, strict=True)]
    return any(agreeing_with(closing, expected)[0] for expected in (with_opening, moved))


def _are_results(table: Table) -> bool:
    """Return whether each result, as of a statement of income, is made of what is above it.

    That is: the rows and totals since the last result, added up, or the first less the others; or
    the last result with them, or without; or all rows above.
    """
    above = table.parts[0]
    totals: list[Figures] = []
    since, before = above, None
    for (_, one), part in zip(table.candidates, table.parts[1:], strict=True):
        if one.label is Label.RESULT:
            if not _is_result(one.figures, _components(totals, since), above, before):
                return False
            totals, since, before = [], part, one.figures
        else:
            totals.append(one.figures)
            since = since + part
        above = above + part
    return True


@dataclass(frozen=True)
class _Components:
    """What a result may be made of: all of it added up, and the first."""

    sums: Sequence[float]
    first: Figures
    count: int


def _components(totals: Sequence[Figures], since: Part) -> _Components:
    if not totals:
        return _Components(since.sums, since.first, since.rows)
    sums = [sum(figure or 0.0 for figure in column) for column in zip(*totals, strict=True)]
    return _Components(sums, totals[0], len(totals))


def _is_result(own: Figures, made_of: _Components, above: Part, before: Figures | None) -> bool:
    options: list[Sequence[float]] = []
    if above.rows > 1:
        options.append(above.sums)
    if made_of.count > 1:
        first = [one or 0.0 for one in made_of.first]
        options += [made_of.sums, [2 * a - b for a, b in zip(first, made_of.sums, strict=True)]]
    if before is not None and made_of.count:
        last = [one or 0.0 for one in before]
        options.append([a + b for a, b in zip(last, made_of.sums, strict=True)])
        options.append([a - b for a, b in zip(last, made_of.sums, strict=True)])
    found = (agreeing_with(own, option) for option in options)
    return any(agreeing and are_most for agreeing, are_most in found)


def _as_part(figures: Figures) -> Part:
    counts = [int(figure is not None) for figure in figures]
    return Part(1, [figure or 0.0 for figure in figures], counts, figures, figures, figures)


def _either(
    choose: Callable[[float, float], float], left: Figures, right: Figures
) -> list[float | None]:
    return [
        b if a is None else a if b is None else choose(a, b)
        for a, b in zip(left, right, strict=True)
    ]
