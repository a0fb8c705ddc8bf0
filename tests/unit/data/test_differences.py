"""Comparing figures by key."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.data.differences import DifferenceClass, Thresholds, compare, normal_key, sum_patterns

AMOUNTS = st.decimals(-100_000, 100_000, places=2)
SIDES = st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("123")), AMOUNTS)
DEFAULT = Thresholds()


def one(left, right, thresholds=DEFAULT):
    (difference,) = compare({("k",): Decimal(left)}, {("k",): Decimal(right)}, thresholds)
    return difference


@given(SIDES, SIDES)
def test_each_key_of_either_side_is_compared_once_and_nothing_is_lost(left, right):
    differences = compare(left, right, DEFAULT, ("a", "b"))

    assert sorted(d.key for d in differences) == sorted(left.keys() | right.keys())
    assert sum(d.amount for d in differences) == sum(right.values()) - sum(left.values())


@given(SIDES, SIDES)
def test_differences_are_ranked_by_their_size(left, right):
    sizes = [abs(d.amount) for d in compare(left, right, DEFAULT, ("a", "b"))]

    assert sizes == sorted(sizes, reverse=True)


@given(SIDES, SIDES)
def test_swapping_the_sides_changes_signs_only(left, right):
    there = {d.key: d.amount for d in compare(left, right, DEFAULT, ("a", "b"))}
    back = {d.key: d.amount for d in compare(right, left, DEFAULT, ("a", "b"))}

    assert there == {key: -amount for key, amount in back.items()}


@given(SIDES, SIDES)
def test_the_sums_of_all_patterns_and_the_matches_are_the_net_difference(left, right):
    differences = compare(left, right, DEFAULT, ("a", "b"))
    matches = [d.amount for d in differences if d.rating is DifferenceClass.MATCH]

    amounts = sum_patterns(differences)

    assert "" in amounts
    assert sum(map(sum, amounts.values())) + sum(matches) == sum(right.values()) - sum(
        left.values()
    )


def test_classes_follow_the_thresholds():
    assert one("100", "101").rating is DifferenceClass.MATCH
    assert one("100", "101.01").rating is DifferenceClass.MINOR
    assert one("100", "1100").rating is DifferenceClass.MINOR
    assert one("100", "1100.01").rating is DifferenceClass.MAJOR
    assert one("1000000", "1009000").rating is DifferenceClass.MINOR
    strict = Thresholds(Decimal(0), Decimal(0), Decimal(0))
    assert one("100", "100.01", strict).rating is DifferenceClass.MAJOR
    assert one("100", "100", strict).rating is DifferenceClass.MATCH


def test_hints_name_the_patterns():
    assert one("10.4", "10").hint == "rounding"
    assert one("500", "-500").hint == "opposite sign"
    (only,) = compare({}, {("k",): Decimal(50)}, DEFAULT)
    assert only.hint == "only in right"


def test_an_amount_that_moved_names_where_it_went():
    left = {("9", "a"): Decimal(500), ("10", "a"): Decimal(100)}
    right = {("9", "a"): Decimal(200), ("10", "a"): Decimal(400)}

    hints = {d.key: d.hint for d in compare(left, right, DEFAULT, ("period", "account"))}

    assert hints == {("9", "a"): "offset by period 10", ("10", "a"): "offset by period 9"}


def test_many_figures_off_by_one_rate_are_in_proportion():
    left = {(str(n),): Decimal(1000 + 37 * n) * (-1 if n == 3 else 1) for n in range(8)}
    right = {key: round(amount * Decimal("0.99"), 2) for key, amount in left.items()}

    hints = {d.hint for d in compare(left, right, DEFAULT, ("n",))}

    assert hints == {"in proportion: -1.0 % like 7 others"}


def test_keys_of_different_types_meet():
    assert normal_key([3, None, 2.0, " a "]) == normal_key(["3", "", 2, "a"])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2024-01-01", "2024-01-01T00:00:00"),
        ("2024-01-01 00:00:00", "2024-01-01T00:00:00.000000"),
        (True, "true"),
        ("False", False),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_keys_that_mean_the_same_meet(left, right):
    assert normal_key([left]) == normal_key([right])


def test_moments_of_one_day_stay_apart():
    moments = [
        "2024-01-01T00:00:00",
        "2024-01-01T00:00:00.000001",
        "2024-01-01T08:00:00",
        "2024-01-01T00:00:00+00:00",
        "2024-01-01T00:00:00+02:00",
    ]

    assert len({normal_key([moment]) for moment in moments}) == len(moments)
