"""Versions of a text are compared line by line, and at once, however long they are."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ends_within
from ui.shared.text.line_diff import MAX_COMPARED, diff_lines

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)
MANY = 20_000


def as_difflib(before, after, context):
    lines = list(difflib.unified_diff(before, after, lineterm="", n=context))[3:]
    return ["…" if line.startswith("@@") else line for line in lines]


def applied(before, diff):
    """What a whole diff says that the texts were."""
    old = [line[1:] for line in diff if line[0] in " -"]
    new = [line[1:] for line in diff if line[0] in " +"]
    return old, new


@given(LINES, LINES, st.integers(0, 3))
def test_short_texts_differ_as_difflib_has_it(before, after, context):
    assert diff_lines(before, after, context) == as_difflib(before, after, context)


@given(LINES, LINES, st.integers(0, 300))
def test_a_long_texts_difference_says_both_texts(before, after, unique):
    long = [f"line {n}" for n in range(MAX_COMPARED + unique)]
    old, new = [*before, *long, *after], [*after, *long[::2], *before]

    diff = diff_lines(old, new, len(old) + len(new))

    assert applied(old, diff) == (old, new)


def test_a_long_text_with_one_changed_line_shows_that_line():
    before = [f"line {n}" for n in range(5_000)]
    after = [*before[:2_500], "another", *before[2_501:]]

    assert diff_lines(before, after, 1) == [
        " line 2499",
        "-line 2500",
        "+another",
        " line 2501",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([str(n % 150) for n in range(MANY)], [str(n * 7 % 150) for n in range(MANY)]),
        ([str(n) for n in range(MANY)], [str(n) for n in reversed(range(MANY))]),
        (["", "a"] * MANY, ["", "b", "a"] * MANY),
        (["a"] * MANY, ["a"] * (MANY + 1)),
        (["a", "b"] * MANY, ["b", "a"] * MANY),
    ],
    ids=["repeated", "turned", "blank lines", "one longer", "shifted"],
)
def test_no_two_texts_are_slow_to_compare(before, after):
    with ends_within(20):
        diff = diff_lines(before, after, len(before))

    assert not diff or applied(before, diff) == (before, after)
