import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colloquy_kit.messages.clean import MAX_DEPTH, TOO_DEEP, clean

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters()),
    st.binary(max_size=20),
    st.dates(),
    st.datetimes(),
    st.decimals(),
    st.uuids(),
    st.complex_numbers(),
)
keys = st.one_of(st.text(st.characters()), st.integers(), st.none(), st.floats(), st.booleans())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(keys, inner, max_size=5),
        st.tuples(inner, inner),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=25,
)


def refuse(constant):
    raise AssertionError(constant)


def assert_jsonb_takes(value):
    if isinstance(value, str):
        assert "\x00" not in value
        value.encode()
    elif isinstance(value, dict):
        for key, item in value.items():
            assert type(key) is str
            assert_jsonb_takes(key)
            assert_jsonb_takes(item)
    elif isinstance(value, list):
        for item in value:
            assert_jsonb_takes(item)
    elif isinstance(value, float):
        assert math.isfinite(value)
    else:
        assert value is None or type(value) in (bool, int)


@given(values)
def test_any_value_becomes_strict_json_that_stays_as_it_is(value):
    cleaned = clean(value)

    assert_jsonb_takes(cleaned)
    assert json.loads(json.dumps(cleaned), parse_constant=refuse) == cleaned
    assert clean(cleaned) == cleaned


@given(st.text())
def test_ordinary_text_is_never_changed(text):
    kept = text.replace("\x00", "")

    assert clean(kept) == kept


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\x00b", "a\u2400b"),
        ("a\ud83db", "a\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (2**63, str(2**63)),
        (2**63 - 1, 2**63 - 1),
        (b"\xff", {"__bytes__": "/w=="}),
        ({1: 2, None: 3}, {"1": 2, "None": 3}),
        (date(2024, 1, 2), "2024-01-02"),
        (datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02T00:00:00+00:00"),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (object(), "<object>"),
    ],
)
def test_what_json_lacks_becomes_readable(value, expected):
    assert clean(value) == expected


def test_deep_nesting_and_cycles_end():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    cycle: list = []
    cycle += [cycle, cycle]

    assert json.dumps(clean(deep)).count("[") == MAX_DEPTH
    assert clean(cycle) == [TOO_DEEP, TOO_DEEP]
