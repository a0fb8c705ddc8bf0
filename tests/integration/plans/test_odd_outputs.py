"""Outputs of tasks that their plan cannot store or read."""

import json

import pytest

from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.stack import Stack

ROWS = [[n, "x" * 40] for n in range(400)]
ANSWERS = {
    "a whole number of 80 bits": '{"account": 123456789012345678901234}',
    "a lone surrogate": '{"name": "\\ud800"}',
    "NUL": '{"name": "a\\u0000b"}',
    "deep nesting": '{"a": ' + "[" * 300 + "]" * 300 + "}",
    "its own rows_left_out": json.dumps({"rows": ROWS, "rows_left_out": "many"}),
    "null rows_left_out": json.dumps({"rows": ROWS, "rows_left_out": None}),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_any_answer_that_is_json_ends_its_task(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    team = Team(stack, model, lambda _: {"text": ANSWERS[kind]})
    turn = team.ask(plan(task("t1")))

    ended = stack.finished(turn["turn_id"], seconds=60)

    assert ended["status"] == "succeeded"
    one = team.tasks(turn["session_id"])["t1"]
    assert (one["status"], one["error"], one["tries"]) == ("succeeded", None, 1)
    assert team.asked["t1"] == 1


def test_a_reference_to_a_row_of_many_digits_fails_the_task_that_makes_it(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda _: {"text": '{"items": [1, 2]}'})
    wrong = f"@t1.output.items.{'9' * 5_000}"
    turn = team.ask(plan(task("t1"), task("t2", input={"row": wrong})))

    assert stack.finished(turn["turn_id"], seconds=80)["status"] == "succeeded"
    tasks = team.tasks(turn["session_id"])
    assert (tasks["t1"]["status"], tasks["t1"]["tries"]) == ("succeeded", 1)
    assert (tasks["t2"]["status"], tasks["t2"]["error"]["title"]) == ("failed", "Input missing")
