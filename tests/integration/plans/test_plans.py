"""Tasks of a plan run as turns of their own; what they gave goes to the next and to the manager."""

import threading

import pytest

from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_problem, check_views, texts
from tests.stack import Stack


def test_tasks_run_and_what_they_gave_goes_to_the_next_and_to_the_manager(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda temp_id: {"text": f'{{"total": 7, "by": "{temp_id}"}}'})
    given = {"sum": "@t1.output.total", "said": "by @t2.output.by"}
    turn = team.ask(plan(task("t1"), task("t2"), task("t3", "t2", agent="Writer", input=given)))

    ended = stack.finished(turn["turn_id"])

    assert (ended["status"], ended["error"]) == ("succeeded", None)
    tasks = team.tasks(turn["session_id"])
    assert {name: one["status"] for name, one in tasks.items()} == dict.fromkeys(tasks, "succeeded")
    assert tasks["t3"]["depends_on"] == ["t2", "t1"]
    assert team.asked == {"t1": 1, "t2": 1, "t3": 1}
    rows, _ = check_views(stack, tasks["t3"]["session_id"])
    assert '"sum": 7' in texts(rows, "user")[0]
    assert '"said": "by t2"' in texts(rows, "user")[0]
    assert tasks["t3"]["usage"]["model_calls"] == 1
    result = team.result()
    assert result["status"] == "succeeded"
    assert [one["output"]["by"] for one in result["tasks"]] == ["t1", "t2", "t3"]
    rows, _ = check_views(stack, turn["session_id"])
    assert texts(rows, "assistant")[-1] == "all done"
    used = stack.client.get(f"/sessions/{turn['session_id']}/usage").json()
    assert (used["turns"], used["total"]["model_calls"]) == (4, 5)


def test_a_tasks_session_shows_its_own_usage_and_its_parent_that_of_all(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, limits={"conversation_tokens": 1_000_000})
    turn = team.ask(plan(task("t1"), task("t2")))
    stack.finished(turn["turn_id"])
    children = [one["session_id"] for one in team.tasks(turn["session_id"]).values()]

    parent, *tasks = (
        stack.client.get(f"/sessions/{each}/usage").json()
        for each in (turn["session_id"], *children)
    )

    for used in (parent, *tasks):
        latest = [one["usage"]["model_calls"] for one in used["latest"]]
        assert (used["turns"], used["total"]["model_calls"]) == (len(latest), sum(latest))
        assert sum(one["model_calls"] for one in used["models"]) == sum(latest)
    assert [used["turns"] for used in (parent, *tasks)] == [3, 1, 1]
    assert [used["budgets"] for used in tasks] == [parent["budgets"]] * 2
    assert parent["budgets"][0]["used"] > max(used["total"]["input_tokens"] for used in tasks)


def test_tasks_that_run_at_the_same_time_share_the_budget_of_their_session(
    stack: Stack, model: ScriptedModel
) -> None:
    # The manager's step and one of these are within the budget; with both it is used up.
    both_run = threading.Event()
    step = {"text": "w " * 600, "until": both_run, "tools": [{"name": "list_sources", "args": {}}]}
    specialist = {"tools": ["list_sources"]}
    limits = {"conversation_tokens": 1_200}
    team = Team(stack, model, lambda _: step, specialist=specialist, limits=limits)
    turn = team.ask(plan(task("t1"), task("t2")))
    stack.wait_for(lambda: team.asked.total() == 2, "the tasks do not run")

    both_run.set()
    ended = stack.finished(turn["turn_id"])

    assert ended["error"]["title"] == "Session budget used up"
    reasons = [one["error"] for one in team.tasks(turn["session_id"]).values()]
    assert "Session budget used up" in [reason["title"] for reason in reasons if reason]


def test_a_plan_that_cannot_run_is_told_to_its_manager_and_starts_nothing(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model)
    turn = team.ask(plan(task("t1", "t2"), task("t2", "t1", agent="Nobody")))

    stack.finished(turn["turn_id"])

    assert team.plans(turn["session_id"]) == []
    assert "There is no agent 'Nobody'. The agents are: Analyst, Writer." in team.results[0]


def test_an_agent_is_called_and_its_answer_is_the_result(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model)
    calls = [
        {"name": "call_agent", "args": {"name": "writer", "message": f"work {name};"}}
        for name in ("a", "b")
    ]
    turn = team.ask(*calls)

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    plans, rows = team.plans(turn["session_id"]), stack.messages(turn["session_id"])
    assert [one["kind"] for one in plans] == ["sub_agent"] * 2
    made = [row["content"]["call_id"] for row in rows if row["content_type"] == "tool_call"]
    assert [one["call_id"] for one in plans] == made
    assert '"text": "did a", "agent": "Writer"' in team.results[0]
    assert '"text": "did b", "agent": "Writer"' in team.results[1]
    # Calls of one message begin at the same time, so the second one may be first.
    stack.query_and_commit(
        "UPDATE plans SET created_at = created_at - interval '1 min' WHERE number = 1"
        " AND turn_id = :id",
        id=turn["turn_id"],
    )
    assert [one["call_id"] for one in team.plans(turn["session_id"])] == made


@pytest.mark.parametrize("name", ["t1", "app"])
def test_an_agent_is_not_called_with_a_reference_to_what_it_cannot_have(
    stack: Stack, model: ScriptedModel, name: str
) -> None:
    team = Team(stack, model)
    message = f"work a; with @{name}.output.rows"
    turn = team.ask({"name": "call_agent", "args": {"name": "Writer", "message": message}})

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert team.plans(turn["session_id"]) == []
    assert f"refers to @{name}.output" in team.results[0]


def test_sessions_of_tasks_are_in_no_list_but_open_from_their_plan_and_go_with_it(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda temp_id: {"text": "an unheard-of zyxomma"})
    turn = team.ask(plan(task("t1")))
    stack.finished(turn["turn_id"])
    one = team.tasks(turn["session_id"])["t1"]
    child = one["session_id"]

    listed = stack.client.get("/sessions", params={"domain": team.domain}).json()["items"]
    assert [session["id"] for session in listed] == [turn["session_id"]]
    found = stack.client.get("/search", params={"q": "zyxomma"}).json()
    assert {hit["session_id"] for hit in found["items"]} == {turn["session_id"]}
    assert stack.client.get(f"/sessions/{child}").json()["title"] == "Task t1"
    mine = stack.client.get("/tasks", params={"limit": 1}).json()
    assert mine["items"][0]["id"] == one["id"]
    check_problem(stack.client.get("/tasks", params={"colour": "red"}), 422)
    check_problem(stack.client.delete(f"/sessions/{child}"), 409)
    decided = stack.client.post(f"/tasks/{one['id']}/decision", json={"decision": "retry"})
    check_problem(decided, 409)

    assert stack.client.delete(f"/sessions/{turn['session_id']}").status_code == 204

    check_problem(stack.client.get(f"/sessions/{child}"), 404)
    assert stack.query("SELECT 1 FROM tasks WHERE id = :id", id=one["id"]) == []


def test_who_waits_for_the_answer_gets_that_of_the_whole_plan_and_its_tasks_are_told(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model)
    turn = team.ask(plan(task("t1"), task("t2", "t1")))
    stack.finished(turn["turn_id"])

    answer = stack.chat("again", turn["session_id"])

    assert answer["response"] == "all done"
    assert [one["status"] for one in team.plans(turn["session_id"])] == ["succeeded"] * 2
    with stack.events(turn["session_id"], **{"Last-Event-ID": "0"}) as events:
        told = [next(events) for _ in range(20)]
    moves = [
        (event["data"]["task"]["temp_id"], event["data"]["task"]["status"])
        for event in told
        if event["event"] == "task_updated"
    ]
    assert [move for move in moves if move[0] == "t1"][:2] == [
        ("t1", "running"),
        ("t1", "succeeded"),
    ]


def test_what_was_left_behind_of_a_plan_is_mended(own_stack: Stack, model: ScriptedModel) -> None:
    team = Team(own_stack, model, lambda name: {"text": "fine"} if name == "t3" else ENDLESS)
    turn = team.ask(plan(task("t1", onFailure="skip"), task("t2"), task("t3", "t2")))
    own_stack.wait_for(lambda: team.asked.total() == 2, "the tasks do not run")
    tasks = team.tasks(turn["session_id"])

    lost = tasks["t1"]["session_id"]
    own_stack.query_and_commit("DELETE FROM conversations WHERE id = :id", id=lost)
    own_stack.wait_for(
        lambda: team.statuses(turn["session_id"])["t1"] == "failed", "nobody misses the session"
    )
    own_stack.query_and_commit(
        "UPDATE plans SET status = 'stopped' WHERE turn_id = :id", id=turn["turn_id"]
    )

    own_stack.wait_for(
        lambda: team.statuses(turn["session_id"])["t2"] == "stopped", "the task runs on"
    )
    assert own_stack.turn(tasks["t2"]["turn_id"])["status"] == "stopped"


def test_an_agent_that_has_all_tools_of_its_domain_has_them_in_a_task_too(
    stack: Stack, model: ScriptedModel
) -> None:
    costs = {"kind": "table", "title": "Costs", "content": [{"cost": 7}]}
    makes = {"tools": [{"name": "make_artifact", "args": costs}]}
    team = Team(stack, model, lambda _: makes, specialist={"tools": None})

    turn = team.ask(plan(task("t1")))
    stack.finished(turn["turn_id"])

    (made,) = stack.client.get(f"/sessions/{turn['session_id']}/artifacts").json()["items"]
    assert (made["title"], made["agent"]) == ("Costs", "Analyst")
    own = team.tasks(turn["session_id"])["t1"]["session_id"]
    assert stack.client.get(f"/sessions/{own}/artifacts").json()["items"] == [made]
