"""Compares two sets of figures by key: differences ranked and rated, with a likely cause. Pure.

The causes are patterns in the figures, not knowledge of a source: an amount with the opposite
sign, a few cents, a missing key, the same percentage in many places, or the same amount missing
in one place and found in another.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

Key = tuple[str, ...]
_ROUNDING = Decimal("1")
_SAME = Decimal("0.01")
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?")
_IN_PROPORTION = 5  # this many figures that differ by the same percentage are no coincidence


class DifferenceClass(StrEnum):
    """How large a difference is, by the thresholds of the comparison."""

    MATCH = "match"
    MINOR = "minor"
    MAJOR = "major"


@dataclass(frozen=True)
class Thresholds:
    """Differences up to `match` are ignored; up to `minor` or `minor_percent` they are minor."""

    match: Decimal = Decimal("1")
    minor: Decimal = Decimal("1000")
    minor_percent: Decimal = Decimal("1")


@dataclass(frozen=True)
class Difference:
    """The two figures of a key; None if a side lacks the key. `amount` is right minus left."""

    key: Key
    left: Decimal | None
    right: Decimal | None
    rating: DifferenceClass
    hint: str = ""
    pattern: str = ""  # the kind of the hint, for sums over all that have it

    @property
    def amount(self) -> Decimal:
        """Right minus left."""
        return (self.right or Decimal(0)) - (self.left or Decimal(0))

    @property
    def percent(self) -> Decimal | None:
        """The difference as a percentage of the left figure."""
        return self.amount / abs(self.left) * 100 if self.left else None


def compare(
    left: Mapping[Key, Decimal],
    right: Mapping[Key, Decimal],
    thresholds: Thresholds,
    key_names: Sequence[str] = (),
) -> list[Difference]:
    """Return one Difference for each key of either side, largest first."""
    differences = [
        _difference(key, left.get(key), right.get(key), thresholds)
        for key in left.keys() | right.keys()
    ]
    differences.sort(key=lambda d: (-abs(d.amount), d.key))
    return _with_hints(differences, key_names)


def sum_patterns(differences: Sequence[Difference]) -> dict[str, list[Decimal]]:
    """Return the amounts by pattern, of all that are no match; those without one are under "".

    With the matches, they add up to the net difference.
    """
    amounts: dict[str, list[Decimal]] = defaultdict(list, {"": []})
    for difference in differences:
        if difference.rating is not DifferenceClass.MATCH:
            amounts[difference.pattern].append(difference.amount)
    return amounts


def normal_key(values: Sequence[object]) -> Key:
    """Return key values in a form in which those that mean the same in two sources are equal.

    3, 3.0 and '3' are, None and '', True and 'true', a day and its midnight, both forms of 'é'.
    """
    return tuple(_normal(value) for value in values)


def _normal(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = unicodedata.normalize("NFC", str(value).strip())
    if text in ("True", "False"):
        return text.lower()
    midnight = _MIDNIGHT.fullmatch(text)
    return midnight[1] if midnight else text


def _difference(
    key: Key, left: Decimal | None, right: Decimal | None, thresholds: Thresholds
) -> Difference:
    bare = Difference(key, left, right, DifferenceClass.MATCH)
    size = abs(bare.amount)
    if size <= thresholds.match:
        return bare
    percent = bare.percent
    small = percent is not None and abs(percent) <= thresholds.minor_percent
    is_minor = small or size <= thresholds.minor
    return replace(bare, rating=DifferenceClass.MINOR if is_minor else DifferenceClass.MAJOR)


def _with_hints(differences: list[Difference], key_names: Sequence[str]) -> list[Difference]:
    opposite = defaultdict(list)
    for difference in differences:
        if abs(difference.amount) > _ROUNDING:
            opposite[difference.amount].append(difference)
    percents = Counter(_rounded_percent(d) for group in opposite.values() for d in group)
    hinted = []
    for difference in differences:
        pattern, hint = _hint(difference, opposite.get(-difference.amount, []), key_names)
        if not pattern:
            pattern, hint = _proportion_hint(difference, percents)
        hinted.append(replace(difference, hint=hint, pattern=pattern))
    return hinted


def _hint(
    difference: Difference, opposites: Sequence[Difference], names: Sequence[str]
) -> tuple[str, str]:
    """Return the pattern and the hint; empty if there is none."""
    if not difference.amount:
        return "", ""
    if abs(difference.amount) <= _ROUNDING:
        return "rounding", "rounding"
    if _has_opposite_sign(difference):
        return "opposite sign", "opposite sign"
    if opposites:
        return _offset_hint(difference, opposites, names)
    if difference.left is None or difference.right is None:
        only = f"only in {'right' if difference.left is None else 'left'}"
        return only, only
    return "", ""


def _proportion_hint(difference: Difference, percents: Counter[Decimal | None]) -> tuple[str, str]:
    percent = _rounded_percent(difference)
    if not percent or percents[percent] < _IN_PROPORTION:
        return "", ""
    pattern = "in proportion"
    return pattern, f"{pattern}: {percent} % like {percents[percent] - 1} others"


def _rounded_percent(difference: Difference) -> Decimal | None:
    """Return the percentage with the ratio's sign, so that costs and revenue compare alike."""
    return round(difference.amount / difference.left * 100, 1) if difference.left else None


def _has_opposite_sign(difference: Difference) -> bool:
    left, right = difference.left, difference.right
    return bool(left) and right is not None and abs((left or 0) + right) <= _SAME


def _offset_hint(
    difference: Difference, opposites: Sequence[Difference], names: Sequence[str]
) -> tuple[str, str]:
    """Return the nearest key with the opposite amount: it was moved, or is one of a pair."""
    nearest = min(opposites, key=lambda other: _distance(difference.key, other.key))
    changed = {
        name: theirs or "(empty)"
        for name, ours, theirs in zip(names, difference.key, nearest.key, strict=False)
        if ours != theirs
    }
    places = ", ".join(f"{name} {theirs}" for name, theirs in changed.items())
    return f"offset by {', '.join(changed)}", f"offset by {places}"


def _distance(left: Key, right: Key) -> int:
    return sum(a != b for a, b in zip(left, right, strict=False))
