"""How a turn may move: forward only, to exactly one end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schemas.conversations.turns import TurnStatus
from backend.turns.lifecycle import (
    MAX_LOSSES,
    RETRYABLE,
    TRANSITIONS,
    UNFINISHED,
    is_exhausted,
    is_finished,
    losses_in_row,
    may_become,
)

statuses = st.sampled_from(TurnStatus)


def test_every_status_has_its_transitions() -> None:
    assert set(TRANSITIONS) == set(TurnStatus)


@given(statuses, statuses)
def test_nothing_follows_the_end(status: TurnStatus, following: TurnStatus) -> None:
    if is_finished(status):
        assert not may_become(status, following)


@given(statuses)
def test_no_status_follows_itself_or_goes_back_to_the_queue(status: TurnStatus) -> None:
    assert not may_become(status, status)
    assert not may_become(status, TurnStatus.QUEUED)


@pytest.mark.parametrize("status", sorted(UNFINISHED))
def test_whatever_is_not_finished_can_be_stopped_and_can_fail(status: TurnStatus) -> None:
    assert may_become(status, TurnStatus.STOPPED)
    assert may_become(status, TurnStatus.FAILED)


def test_only_a_running_turn_succeeds_or_waits() -> None:
    for following in (TurnStatus.SUCCEEDED, TurnStatus.WAITING):
        before = {status for status in TurnStatus if may_become(status, following)}
        assert before == {TurnStatus.RUNNING}


@given(statuses)
def test_only_what_has_ended_without_success_is_tried_again(status: TurnStatus) -> None:
    assert (status in RETRYABLE) == (is_finished(status) and status != TurnStatus.SUCCEEDED)


@pytest.mark.parametrize(
    ("steps_at_losses", "is_given_up"),
    [
        ([0], False),
        ([0, 0], False),
        ([0, 0, 0], True),
        ([5, 5, 5], True),
        ([0, 1, 1], False),
        ([0, 0, 1, 1, 2, 2], False),
        (list(range(100)), False),
        ([*range(0, 100, 2)], False),
        ([7, 8, 8, 8], True),
        ([1, 1, 2, 2, 2], True),
    ],
)
def test_a_turn_is_given_up_by_losses_without_a_step_between_them(
    steps_at_losses: list[int], is_given_up: bool
) -> None:
    count, lost_at, given_up = 0, None, []
    for steps in steps_at_losses:
        count, lost_at = losses_in_row(count, lost_at, steps), steps
        given_up.append(is_exhausted(count))

    assert given_up == [False] * (len(steps_at_losses) - 1) + [is_given_up]


def test_the_third_loss_in_a_row_is_the_last() -> None:
    exhausted = [is_exhausted(losses) for losses in range(MAX_LOSSES + 2)]

    assert exhausted == [False] * MAX_LOSSES + [True, True]
