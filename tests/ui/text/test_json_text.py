"""JSON of tools and models is laid out for reading, and never grows beyond all bounds by that."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ends_within
from ui.shared.text.json_text import MAX_BLANKS, lay_out

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def nested(depth: int, core: object) -> object:
    for _ in range(depth):
        core = [core]
    return core


@given(VALUES)
def test_values_are_laid_out_line_by_line(value):
    assert lay_out(value) == json.dumps(value, indent=2, ensure_ascii=False)


def test_many_parts_at_great_depth_stay_in_one_line():
    value = nested(500, [1] * 300_000)

    with ends_within(20):
        text = lay_out(value)

    assert json.loads(text) == value
    assert len(text) < 2_000_000


def test_many_parts_at_some_depth_stay_within_the_bound():
    value = nested(50, [1] * 300_000)

    assert len(lay_out(value)) < 1_000_000 + MAX_BLANKS


def test_what_no_one_can_write_is_said():
    assert lay_out(nested(200_000, 1)) == "(nested too deeply to be shown)"
