"""The checker is quiet about a good history, and catches each way of breaking a promise."""

import pytest

from tests.chaos.checks.checker import PROMISES, check
from tests.chaos.checks.spoils import SPOILS, Spoil, act_after_a_stop, look_again
from tests.chaos.staging.made_up import BEGIN, SESSION, good_history, turn
from tests.chaos.staging.records import Disturbed, Submitted


def test_a_good_history_has_no_violation() -> None:
    assert check(good_history()) == []


def test_every_promise_with_a_rule_is_shown_to_be_broken_once() -> None:
    assert {promise for promise, _, _ in SPOILS} == set(PROMISES)


@pytest.mark.parametrize(
    ("promise", "words", "function"), SPOILS, ids=[one[2].__name__ for one in SPOILS]
)
def test_the_checker_catches(promise: str, words: str, function: Spoil) -> None:
    history = good_history()

    function(history)

    found = PROMISES[promise](history)
    assert any(words in violation for violation in found), found


def test_a_stop_that_a_deaf_worker_could_not_hear_is_no_violation() -> None:
    history = good_history()
    act_after_a_stop(history)

    history.disturbed.append(Disturbed("freeze-worker", "0", BEGIN + 1, BEGIN + 3))

    assert PROMISES["P13"](history) == []


def test_a_message_that_still_waits_is_not_shown_yet() -> None:
    history = good_history()
    waits = turn("stopped", id="turn-2", number=2, message_position=None, idempotency_key="key-2")

    history.turns.append(waits)
    history.submitted.append(Submitted(BEGIN, "key-2", waits["message"], "turn-2", SESSION))

    assert check(history) == []


@pytest.mark.parametrize(("name", "count"), [("look", 0), ("put", 0), ("act", 2)])
def test_what_is_harmless_may_run_again_when_a_frozen_worker_is_back(name: str, count: int) -> None:
    history = good_history()
    look_again(history, name)

    history.disturbed.append(Disturbed("freeze-worker", "0", BEGIN + 2, BEGIN + 5))

    assert len(PROMISES["P11"](history)) == count
