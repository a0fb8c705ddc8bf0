"""What a turn's true state is called."""

import pytest

from backend.schemas.conversations.turns import TurnState
from ui.shared.states import (
    loss_words,
    next_try_words,
    queue_words,
    running_words,
    silence_words,
    wait_words,
)


def turn(**fields):
    return TurnState(attempts=1, steps=0, **fields)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (None, "Waiting for a worker"),
        (0, "Waiting for a worker"),
        (1, "Waiting: 1 turn before it"),
        (2, "Waiting: 2 turns before it"),
    ],
)
def test_a_queued_turn_says_how_many_are_before_it(before, words):
    assert queue_words(before) == words


@pytest.mark.parametrize(
    ("heartbeat", "left", "words"),
    [
        (None, None, ""),
        (2.6, 7.4, ""),
        (20.0, 60.0, ""),
        (6.2, 3.8, "no heartbeat for 6 s"),
        (3.0, -0.4, "worker lost, another one is taking over"),
    ],
)
def test_silence_is_told_when_it_is_long_for_the_lease(heartbeat, left, words):
    assert silence_words(turn(heartbeat_seconds=heartbeat, lease_seconds=left)) == words


def test_losses_are_counted():
    assert loss_words(turn()) == ""
    assert loss_words(turn(losses=1)) == "resumed after a lost worker"
    assert loss_words(turn(losses=2)) == "resumed 2 times after a lost worker"


def test_a_wait_that_is_over_is_an_asking():
    assert wait_words(12, "") == "Waiting for the model's provider: it is busy"
    assert next_try_words(12) == "next try in 12 s"
    assert wait_words(-1, "busy") == "Asking the model again"
    assert next_try_words(-1) == ""


def test_time_that_is_counting_has_no_tenths_so_that_it_is_the_same_in_all_locales():
    assert running_words(turn(), 1, 3.46) == ["3 s", "step 1"]
    assert next_try_words(2.5) == "next try in 2 s"
