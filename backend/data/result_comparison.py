"""Compares two query results; in a child of the sandbox, because there may be many keys."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from backend.data.differences import (
    Difference,
    DifferenceClass,
    Key,
    Thresholds,
    compare,
    normal_key,
    sum_patterns,
)
from backend.data.errors import QueryFailed
from backend.data.results import Column, Scalar, Table, scalar

UNEXPLAINED = "without a pattern"
WITHIN = "within the match threshold"


@dataclass(frozen=True)
class Side:
    """One side's sums by keys: the sum is the last column; `measure` is its name."""

    table: Table
    measure: str


def compare_sides(
    left: Side, right: Side, key_names: Sequence[str], thresholds: Thresholds
) -> tuple[Table, list[str]]:
    """Return the differences as a table, largest first, and notes about them."""
    differences = compare(_sums(left), _sums(right), thresholds, key_names)
    return _as_table(differences, key_names), _notes(differences, thresholds)


def _sums(side: Side) -> dict[Key, Decimal]:
    sums: dict[Key, Decimal] = {}
    for *values, amount in side.table.rows:
        key = normal_key(values)
        sums[key] = sums.get(key, Decimal(0)) + _amount(amount, side.measure)
    return sums


def _amount(value: Scalar, measure: str) -> Decimal:
    try:
        amount = Decimal(str(value)) if value is not None else Decimal(0)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise QueryFailed(f"The measure {measure!r} cannot be compared: a sum is {value!r}.")
    return amount


def _as_table(differences: Sequence[Difference], keys: Sequence[str]) -> Table:
    columns = [Column(key, "VARCHAR") for key in keys]
    columns += [Column(name, "DECIMAL") for name in ("left", "right", "difference", "percent")]
    columns += [Column(name, "VARCHAR") for name in ("class", "hint")]
    rows: list[list[Scalar]] = [
        [
            *difference.key,
            _number(difference.left),
            _number(difference.right),
            _number(difference.amount),
            _number(difference.percent, 2),
            str(difference.rating),
            difference.hint,
        ]
        for difference in differences
    ]
    return Table(tuple(columns), rows)


def _notes(differences: Sequence[Difference], thresholds: Thresholds) -> list[str]:
    counts = Counter(difference.rating for difference in differences)
    classes = ", ".join(f"{counts[rating]:,} {rating}" for rating in DifferenceClass)
    left = sum((d.left or Decimal(0) for d in differences), Decimal(0))
    right = sum((d.right or Decimal(0) for d in differences), Decimal(0))
    match, minor = float(thresholds.match), float(thresholds.minor)
    return [
        f"{len(differences):,} keys: {classes}. Sum left {left:.2f}, right {right:.2f}, "
        f"net difference (right - left) {right - left:.2f}.",
        f"Match: up to {match:g}; minor: up to {minor:g} or "
        f"{float(thresholds.minor_percent):g} %; major: above. Largest differences first.",
        *_pattern_notes(differences),
    ]


def _pattern_notes(differences: Sequence[Difference]) -> list[str]:
    """Return what each pattern amounts to; an excerpt of the rows does not show it."""
    patterns = sorted(sum_patterns(differences).items(), key=lambda each: -len(each[1]))
    matches = [d.amount for d in differences if d.rating is DifferenceClass.MATCH]
    sums = {name or UNEXPLAINED: amounts for name, amounts in patterns} | {WITHIN: matches}
    lines = [
        f"{name}: {len(amounts):,} difference{'' if len(amounts) == 1 else 's'}, net"
        f" {sum(amounts, Decimal(0)):.2f}"
        for name, amounts in sums.items()
    ]
    return ["Over all rows, by pattern; together they are the net difference:", *lines]


def _number(value: Decimal | None, digits: int | None = None) -> Scalar:
    if value is None:
        return None
    return float(round(value, digits)) if digits is not None else scalar(value)
