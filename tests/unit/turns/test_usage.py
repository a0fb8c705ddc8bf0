"""What a turn has spent is kept by model, whatever an endpoint says."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors.budgets import SessionBudgetUsedUp
from backend.llm.events import ModelCall
from backend.schemas.conversations.turns import Usage
from backend.schemas.domains.templates import Limits
from backend.usage.budgets import Budgets, next_month
from backend.usage.ledger import SessionDomain, Used
from backend.usage.spent import MAX_TOKENS, Spent

counts = st.integers(0, 10**6)
usages = st.builds(
    Usage,
    input_tokens=counts,
    cached_tokens=counts,
    output_tokens=counts,
    reasoning_tokens=counts,
    model_calls=st.integers(1, 100),
    cost=st.integers(0, 10**6).map(lambda n: n / 1000),
)


def call(model: str, used: object, failure: str = "", seconds: float | None = 1.0) -> ModelCall:
    asked = ModelCall("answer", [], {"model": model}, seconds=seconds, failure=failure)
    asked.used = used  # type: ignore[assignment]  # what an endpoint may say
    return asked


def tokens(read: int, written: int) -> dict[str, int]:
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


@given(st.dictionaries(st.text(min_size=1, max_size=5), usages, max_size=4))
def test_what_is_written_into_a_turn_is_read_back(by_model: dict[str, Usage]) -> None:
    spent = Spent(by_model)

    stored = spent.dump()
    again = Spent.read(stored)

    assert set(again.by_model) == set(by_model)
    for name, used in by_model.items():
        assert again.by_model[name].model_dump() == pytest.approx(used.model_dump())
    assert Usage.read(stored) == spent.total


def test_only_answers_count() -> None:
    calls = [
        call("a", tokens(10, 5)),
        call("a", tokens(10, 5), failure="Model unavailable"),
        call("b", None),
        call("b", tokens(10, 5), seconds=None),
    ]

    by_model = Spent().plus(calls).by_model

    assert by_model["a"] == Usage(input_tokens=10, output_tokens=5, model_calls=1)
    assert by_model["b"] == Usage(model_calls=1)


def test_absurd_counts_are_held_within_bounds() -> None:
    total = Spent().plus([call("a", tokens(10**30, -7))]).total

    assert (total.input_tokens, total.output_tokens) == (MAX_TOKENS, 0)


def test_a_turn_of_before_models_were_noted_is_read() -> None:
    assert Spent.read({"input_tokens": 3, "model_calls": 1}).total.input_tokens == 3
    assert Spent.read({}).by_model == {}


def test_a_session_may_use_just_less_than_its_budget() -> None:
    budgets = Budgets(Limits(conversation_cost=1.0), SessionDomain(None, "finance"))

    budgets.check_session(Used(0, 0.99))
    with pytest.raises(SessionBudgetUsedUp, match="1 of the cost of 1 "):
        budgets.check_session(Used(0, 1.0))


def test_a_years_last_month_is_followed_by_the_next_years_first() -> None:
    assert next_month(date(2026, 12, 31)) == date(2027, 1, 1)
    assert next_month(date(2026, 1, 31)) == date(2026, 2, 1)


def test_a_clock_that_is_set_back_makes_no_request_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = call("m", None, seconds=None)
    with asked.under_way():
        monkeypatch.setattr(time, "time", lambda: asked.began - 3_600)

    assert asked.seconds is not None and asked.seconds >= 0
