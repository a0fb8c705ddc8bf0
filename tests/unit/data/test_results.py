"""Results as JSON scalars, gathered up to limits."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from backend.data.results import Column, Limits, collect, scalar

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.text(), st.binary(),
    st.dates(), st.datetimes(), st.lists(st.integers()), st.dictionaries(st.text(), st.text()),
)  # fmt: skip


def batches(count):
    for number in range(count):
        yield [(number, "x" * 10)]


def gather(limits, count=100):
    return collect([Column("n", ""), Column("t", "")], batches(count), limits)


@given(VALUES)
def test_any_value_becomes_a_scalar_that_strict_json_and_postgresql_take(value):
    cell = scalar(value)

    assert cell is None or isinstance(cell, str | int | float | bool)
    assert "\0" not in str(cell)
    json.dumps(cell, allow_nan=False)
    json.dumps(cell, ensure_ascii=False).encode("utf-8")


def test_money_stays_exact():
    assert scalar(Decimal("1234567.89")) == 1234567.89
    assert scalar(Decimal("12345678901234567890.12")) == "12345678901234567890.12"
    assert scalar(2**60) == str(2**60)


def test_times_are_iso_text():
    assert scalar(date(2026, 3, 1)) == "2026-03-01"
    assert scalar(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00+00:00"


def test_rows_stop_at_the_limit_and_the_rest_is_never_fetched():
    fetched = []

    def endless():
        while True:
            fetched.append(1)
            yield [(1, "x")]

    table = collect([Column("n", ""), Column("t", "")], endless(), Limits(rows=5))

    assert len(table.rows) == 5
    assert not table.complete
    assert "5 rows" in table.cut_by
    assert len(fetched) == 6


def test_bytes_stop_at_the_limit():
    table = gather(Limits(bytes=100))

    assert 0 < len(table.rows) < 10
    assert "MB" in table.cut_by


def test_a_result_within_the_limits_is_complete():
    assert gather(Limits(rows=100)).complete


def test_a_huge_cell_is_cut_and_says_so():
    assert scalar("x" * 1_000_000).endswith("… (cut at 100,000 characters)")
