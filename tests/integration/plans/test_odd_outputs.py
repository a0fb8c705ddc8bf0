"""Outputs of tasks that their plan cannot store or read."""

import json

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import make_session
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


@pytest.mark.parametrize("path", ["", ".say", ".items"])
def test_a_task_that_is_described_by_an_output_alone_reads_it_as_text(
    stack: Stack, model: ScriptedModel, path: str
) -> None:
    answer = {"say": "work t2;", "items": ["work t2;"]}
    team = Team(stack, model, lambda _: {"text": json.dumps(answer)})
    turn = team.ask(plan(task("t1"), {**task("t2"), "description": f"@t1.output{path}"}))

    assert stack.finished(turn["turn_id"], seconds=60)["status"] == "succeeded"
    assert set(team.statuses(turn["session_id"]).values()) == {"succeeded"}
    assert team.asked == {"t1": 1, "t2": 1}


def test_a_task_that_revises_an_artifact_to_equal_content_has_it_in_its_output(
    stack: Stack, model: ScriptedModel
) -> None:
    made: list[JSON] = []

    def reply(temp_id: str) -> JSON:
        if temp_id == "t1":
            given = {"kind": "document", "title": "Report", "content": "As it is."}
            return {"tools": [{"name": "make_artifact", "args": given}]}
        if temp_id == "t3":
            return {"text": "read"}
        made.extend(stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"])
        given = {"artifact_id": made[0]["id"], "content": "As it is."}
        return {"tools": [{"name": "revise_artifact", "args": given}]}

    team = Team(stack, model, reply, specialist={"tools": ["make_artifact", "revise_artifact"]})
    session_id = make_session(stack, team.domain)
    using = task("t3", input={"report": "@t2.output.artifacts"})
    turn = team.ask(plan(task("t1"), task("t2", "t1"), using), session_id=session_id)

    assert stack.finished(turn["turn_id"], seconds=60)["status"] == "succeeded"
    tasks = team.tasks(session_id)
    same = {"id": made[0]["id"], "version": 1, "title": "Report"}
    assert [tasks[name]["output"]["artifacts"] for name in ("t1", "t2")] == [[same], [same]]
    assert tasks["t3"]["status"] == "succeeded", tasks["t3"]["error"]
