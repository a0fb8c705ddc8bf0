"""When more turns wait than can run, each of them runs once, whoever's job woke the worker."""

import pytest

from tests.fakes import ScriptedModel
from tests.stack import Stack


@pytest.mark.chaos
def test_a_backlog_runs_to_its_end_with_one_attempt_each(
    stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": "done", "delay": 0.02}]

    turns = [stack.submit(f"message {number}") for number in range(40)]

    ended = [stack.finished(turn["turn_id"]) for turn in turns]
    assert {turn["status"] for turn in ended} == {"succeeded"}
    assert {turn["attempts"] for turn in ended} == {1}
