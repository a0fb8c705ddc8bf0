"""Plans by table: what is refused, what refers to what, what is next, what follows a failure."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from backend.planning.checks import find_faults, needs_of
from backend.planning.form import PlanForm
from backend.planning.graph import after_turn, find_lost, find_ready, plan_status
from backend.planning.references import ReferenceMissing, find_references, resolve
from backend.planning.results import MOST_RESULT, make_message, make_output, write_result
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.tasks import OnFailure, PlanStatus, TaskStatus
from backend.types import JSON

AGENTS = ["Analyst", "Writer"]


def task(temp_id: str, *needs: str, agent: str = "Analyst", **more: Any) -> JSON:
    said = {"tempId": temp_id, "name": temp_id, "description": "do it", "agentName": agent}
    return {**said, "dependsOn": list(needs), **more}


def plan(*tasks: JSON) -> PlanForm:
    return PlanForm.model_validate({"workflowName": "w", "tasks": list(tasks)})


@dataclass
class At:
    temp_id: str
    status: str
    depends_on: list[str] = field(default_factory=list)


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([task("a", agent="Nobody")], "no agent 'Nobody'. The agents are: Analyst, Writer."),
        ([task("a"), task("a")], "Several tasks have the tempId a."),
        ([task("a", "b")], "depends on b, but there is no such task. The tasks are: a."),
        ([task("a", input={"x": ["@c.output"]})], "refers to @c.output, but there is no such"),
        ([task("a", "b"), task("b", "c"), task("c", "a")], "a → b → c → a"),
        ([task("a", input={"x": "@a.output.text"})], "a → a"),
        ([task("a", "b"), task("b", input={"x": "see @a.output.rows"})], "a → b → a"),
        ([task("a", input={"x": "y" * 200_000})], "longer than 100,000 characters"),
    ],
)
def test_a_plan_that_cannot_run_is_told_why(tasks: list[JSON], said: str) -> None:
    (fault,) = find_faults(plan(*tasks), AGENTS)

    assert said in fault


@pytest.mark.parametrize(
    "given",
    [
        {"workflowName": "w", "tasks": []},
        {"workflowName": "w", "tasks": [task(f"t{n}") for n in range(201)]},
        {"workflowName": "w", "tasks": [task("t 1")]},
        {"workflowName": "w", "tasks": [task("t1", onFailure="explode")]},
        {"workflowName": "w", "tasks": [task("t1", color="red")]},
    ],
)
def test_what_is_no_plan_is_refused(given: JSON) -> None:
    with pytest.raises(ValidationError):
        PlanForm.model_validate(given)


def test_who_is_referred_to_is_also_depended_on_and_agents_are_known_in_any_case() -> None:
    made = plan(task("a", agent="analyst"), task("b", input={"rows": "@a.output.rows"}))

    assert find_faults(made, AGENTS) == []
    assert needs_of(made) == {"a": [], "b": ["a"]}


def test_a_plan_may_be_as_short_as_its_specification_s_example() -> None:
    made = plan(
        {"tempId": "1", "name": "Research AI", "agentName": "Analyst", "input": None},
        {"tempId": 2, "name": "Write it", "agentName": "Writer", "dependsOn": [1]},
        {
            "tempId": "报告-3",
            "name": "Sum up",
            "agentName": "Writer",
            "description": "@2.output.text",
        },
        task("t4", input={"report": "用@报告-3.output.text写"}),
    )

    assert find_faults(made, AGENTS) == []
    assert needs_of(made) == {"1": [], "2": ["1"], "报告-3": ["2"], "t4": ["报告-3"]}
    assert [one.description for one in made.tasks[:2]] == ["Research AI", "Write it"]


def test_a_graph_of_200_tasks_in_a_row_is_checked() -> None:
    row = [task(f"t{n}", *([f"t{n - 1}"] if n else [])) for n in range(200)]

    assert find_faults(plan(*row), AGENTS) == []


OUTPUTS: dict[str, JSON] = {
    "t1": {"text": "fine", "rows": [{"n": 1}, {"n": 2}], "total": 3.5},
    "t2": {"合计": 7, "FI": 8, "FI合计": 9},
}


@pytest.mark.parametrize(
    ("value", "resolved"),
    [
        ("@t1.output.rows", [{"n": 1}, {"n": 2}]),
        ("@t1.output", OUTPUTS["t1"]),
        (" @t1.output.rows.1.n ", 2),
        ("It is @t1.output.total, @t1.output.text.", "It is 3.5, fine."),
        ({"a": ["@t1.output.text", 7, None]}, {"a": ["fine", 7, None]}),
        ("a@t1.output.text", "a@t1.output.text"),
        ("@t1 and @t1.result", "@t1 and @t1.result"),
        ("根据@t1.output.text写报告", "根据fine写报告"),
        ("@t2.output.合计", 7),
        ("用@t2.output.合计 和@t2.output.FI", "用7 和8"),
        ("@t2.output.FI合计", 9),
    ],
)
def test_references_become_what_they_name(value: Any, resolved: Any) -> None:
    assert resolve(value, OUTPUTS) == resolved


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("@t1.output.sum", "t1 has no `sum` there; there is text, rows, total"),
        ("@t1.output.rows.9", "it is a list of 2"),
        ("@t1.output.total.x", "it is a single value"),
        ("@t3.output.text", "t3 has no output"),
    ],
)
def test_a_reference_to_what_was_not_given_is_told(value: str, said: str) -> None:
    with pytest.raises(ReferenceMissing, match=said):
        resolve(value, OUTPUTS)


def test_references_are_found_once_each() -> None:
    assert find_references({"a": "@x.output @y.output.z", "b": ["@x.output.q"]}) == ["x", "y"]


def test_ready_is_what_waits_for_nothing_that_has_not_succeeded() -> None:
    nodes = [
        At("a", "succeeded"),
        At("b", "running"),
        At("c", "pending", ["a"]),
        At("d", "pending", ["a", "b"]),
        At("e", "pending"),
    ]

    assert [node.temp_id for node in find_ready(nodes)] == ["c", "e"]


def test_what_depends_on_a_lost_task_is_lost_in_any_depth_and_order() -> None:
    nodes = [
        At("d", "pending", ["c"]),
        At("c", "pending", ["b"]),
        At("b", "pending", ["a"]),
        At("a", "failed"),
        At("e", "pending"),
    ]

    assert {node.temp_id for node in find_lost(nodes)} == {"b", "c", "d"}


@pytest.mark.parametrize(
    ("ended", "policy", "tries", "then"),
    [
        ("succeeded", "ask", 1, "succeeded"),
        ("stopped", "retry", 1, "stopped"),
        ("failed", "retry", 1, "pending"),
        ("failed", "retry", 2, "pending"),
        ("failed", "retry", 3, "failed"),
        ("failed", "skip", 1, "failed"),
        ("failed", "ask", 1, "asking"),
    ],
)
def test_what_follows_the_end_of_a_turn(ended: str, policy: str, tries: int, then: str) -> None:
    assert after_turn(TurnStatus(ended), OnFailure(policy), tries) == TaskStatus(then)


@pytest.mark.parametrize(("policy", "then"), [("retry", "failed"), ("ask", "asking")])
def test_a_task_that_would_fail_the_same_way_is_not_tried_again(policy: str, then: str) -> None:
    after = after_turn(TurnStatus.FAILED, OnFailure(policy), 1, is_hopeless=True)

    assert after == TaskStatus(then)


@pytest.mark.parametrize(
    ("statuses", "then"),
    [
        (["succeeded", "succeeded"], "succeeded"),
        (["succeeded", "running"], "running"),
        (["running", "asking"], "waiting"),
        (["succeeded", "failed", "skipped"], "failed"),
        (["succeeded", "stopped"], "stopped"),
        (["failed", "pending"], "running"),
    ],
)
def test_how_a_plan_stands(statuses: list[str], then: str) -> None:
    assert plan_status([At(str(n), s) for n, s in enumerate(statuses)]) == PlanStatus(then)


def test_an_output_has_text_keys_rows_and_artifacts() -> None:
    table = {"columns": [{"name": "n"}], "rows": [[n] for n in range(300)], "row_count": 300}

    output = make_output('```json\n{"total": 7}\n```', table, [{"id": "x", "version": 1}])

    assert output["total"] == 7
    assert output["text"].startswith("```json")
    assert output["columns"] == ["n"]
    assert (output["rows"][0], len(output["rows"]), output["rows_left_out"]) == ({"n": 0}, 200, 100)
    assert output["artifacts"] == [{"id": "x", "version": 1}]
    assert make_output("plain", None, []) == {"text": "plain"}


def test_a_plans_result_is_bounded_and_says_what_is_cut() -> None:
    rows = [{"name": "x" * 50, "n": n} for n in range(200)]
    tasks = [{"tempId": f"t{n}", "output": {"text": "y" * 9_000, "rows": rows}} for n in range(200)]

    written = write_result({"plan": "w"}, tasks)

    assert len(written) < MOST_RESULT * 2
    first = json.loads(written)["tasks"][0]["output"]
    assert "cut here: it has 9,000 characters" in first["text"]
    few = json.loads(write_result({"plan": "w"}, tasks[:4]))["tasks"][0]["output"]
    assert few["rows"]
    assert few["rows_left_out"] + len(few["rows"]) == 200


def test_a_task_is_asked_with_its_input_as_json() -> None:
    assert make_message("Do it.", None) == "Do it."
    assert '"n": 1' in make_message("Do it.", {"n": 1})
