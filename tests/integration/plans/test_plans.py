"""Plans: tasks as turns of their own, side by side; what follows failures, stops and deletions."""

import threading

import pytest

from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_problem, check_views, stop, texts
from tests.stack import Stack

FAILING: JSON = {"status": 400}


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


def test_failures_are_tried_again_left_out_or_asked_about(
    stack: Stack, model: ScriptedModel
) -> None:
    mended = threading.Event()

    def reply(temp_id: str) -> JSON:
        if temp_id == "slow" and team.asked["slow"] == 2:
            return {"text": "at last"}
        if temp_id == "asks" and mended.is_set():
            return {"text": "mended"}
        return FAILING if temp_id in ("slow", "bad", "worse", "asks") else {"text": "fine"}

    team = Team(stack, model, reply)
    turn = team.ask(
        plan(
            task("slow"),
            task("bad", onFailure="skip"),
            task("below", "bad"),
            task("deep", "below"),
            task("worse"),
            task("asks", onFailure="ask"),
            task("last", "asks"),
        )
    )

    def asks() -> JSON | None:
        found = team.tasks(turn["session_id"]) if team.plans(turn["session_id"]) else {}
        over = all(found[n]["status"] == "failed" for n in ("bad", "worse")) if found else False
        return found if over and found["asks"]["status"] == "asking" else None

    tasks = stack.wait_for(asks, "no task asks")
    (one,) = team.plans(turn["session_id"])
    assert one["status"] == "waiting"
    assert stack.turn(turn["turn_id"])["status"] == "waiting"
    mended.set()
    url = f"/tasks/{tasks['asks']['id']}/decision"
    answer = stack.client.post(url, json={"decision": "retry"})
    assert answer.json()["status"] == "running", answer.text
    check_problem(stack.client.post(url, json={"decision": "skip"}), 409)

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert team.statuses(turn["session_id"]) == {
        "slow": "succeeded",
        "bad": "failed",
        "below": "skipped",
        "deep": "skipped",
        "worse": "failed",
        "asks": "succeeded",
        "last": "succeeded",
    }
    assert team.asked["worse"] == 3
    assert team.asked["bad"] == 1
    result = team.result()
    assert result["status"] == "failed"
    assert "it was left out" in result["tasks"][2]["error"]


def test_a_task_whose_agent_says_that_it_is_not_done_has_failed(
    stack: Stack, model: ScriptedModel
) -> None:
    not_done = {"text": '{"taskComplete": false, "message": "There is no such ledger."}'}

    def reply(temp_id: str) -> JSON:
        is_done = temp_id == "again" and team.asked["again"] == 2
        return {"text": "at last"} if is_done else not_done

    team = Team(stack, model, reply)
    turn = team.ask(plan(task("bad", onFailure="skip"), task("below", "bad"), task("again")))

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    tasks = team.tasks(turn["session_id"])
    assert team.statuses(turn["session_id"]) == {
        "bad": "failed",
        "below": "skipped",
        "again": "succeeded",
    }
    assert tasks["bad"]["error"] == {
        "title": "Task not done",
        "detail": "There is no such ledger.",
    }
    assert (tasks["again"]["tries"], tasks["again"]["error"]) == (2, None)
    assert "There is no such ledger." in team.result()["tasks"][0]["error"]


def test_a_task_is_tried_again_by_its_plan_alone(stack: Stack, model: ScriptedModel) -> None:
    mended = threading.Event()
    team = Team(stack, model, lambda _: {"text": "mended"} if mended.is_set() else FAILING)
    turn = team.ask(plan(task("asks", onFailure="ask"), task("last", "asks")))

    def asks() -> JSON | None:
        found = team.tasks(turn["session_id"]) if team.plans(turn["session_id"]) else {}
        return found["asks"] if found and found["asks"]["status"] == "asking" else None

    one = stack.wait_for(asks, "no task asks")
    mended.set()
    post, own = stack.client.post, f"/sessions/{one['session_id']}"
    refused = [
        post(f"/turns/{one['turn_id']}/retry"),
        post(f"/turns/{one['turn_id']}/edit", json={"message": "work asks; in other words"}),
        post(f"{own}/chat", json={"message": "go on"}),
        post("/chat", json={"message": "go on", "session_id": one["session_id"]}),
    ]

    for answer in refused:
        assert turn["session_id"] in check_problem(answer, 409)["detail"]
    assert stack.client.get(own).json()["parent_id"] == turn["session_id"]
    assert len(stack.client.get(f"{own}/turns").json()["items"]) == 0
    assert post(f"/tasks/{one['id']}/decision", json={"decision": "retry"}).status_code == 200
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert set(team.statuses(turn["session_id"]).values()) == {"succeeded"}


def test_stopping_the_turn_stops_its_tasks_at_once(stack: Stack, model: ScriptedModel) -> None:
    team = Team(stack, model, lambda _: ENDLESS)
    turn = team.ask(plan(task("t1"), task("t2"), task("t3", "t1")))
    stack.wait_for(lambda: team.asked.total() == 2, "the tasks do not run")
    stack.wait_for(
        lambda: stack.turn(turn["turn_id"])["status"] == "waiting", "the turn does not wait"
    )

    assert stop(stack, turn["turn_id"])["status"] == "stopped"

    def statuses() -> bool:
        return set(team.statuses(turn["session_id"]).values()) == {"stopped"}

    stack.wait_for(statuses, "the tasks do not stop")
    (one,) = team.plans(turn["session_id"])
    assert one["status"] == "stopped"
    for name in ("t1", "t2"):
        stopped = stack.turn(team.tasks(turn["session_id"])[name]["turn_id"])
        assert stopped["status"] == "stopped"
    _, state = check_views(stack, turn["session_id"])
    assert "so those were stopped" in state["messages"][-1]["content"]


def test_a_turn_that_was_stopped_goes_on_with_its_plan_where_that_was(
    stack: Stack, model: ScriptedModel
) -> None:
    is_stuck = True

    def reply(temp_id: str) -> JSON:
        return ENDLESS if is_stuck and temp_id == "t2" else {"text": f"did {temp_id}"}

    team = Team(stack, model, reply)
    turn = team.ask(plan(task("t1"), task("t2", "t1"), task("t3", "t2")))
    stack.wait_for(lambda: team.asked["t2"], "the tasks do not run")
    assert stop(stack, turn["turn_id"])["status"] == "stopped"
    stack.wait_for(
        lambda: team.statuses(turn["session_id"])["t2"] == "stopped", "the task does not stop"
    )
    is_stuck = False

    again = stack.client.post(f"/turns/{turn['turn_id']}/retry")
    assert again.status_code == 202, again.text
    ended = stack.finished(again.json()["id"])

    assert (ended["status"], ended["error"]) == ("succeeded", None)
    (one,) = team.plans(turn["session_id"])
    assert (one["status"], one["turn_id"]) == ("succeeded", again.json()["id"])
    assert set(team.statuses(turn["session_id"]).values()) == {"succeeded"}
    assert team.asked == {"t1": 1, "t2": 2, "t3": 1}
    assert [made["output"]["text"] for made in team.result()["tasks"]] == [
        "did t1",
        "did t2",
        "did t3",
    ]
    assert len(team.results) == 1
    rows, _ = check_views(stack, turn["session_id"])
    calls = [row for row in rows if row["content_type"] == "tool_call"]
    assert [(row["turn_id"], row["status"]) for row in calls] == [
        (turn["turn_id"], "failed"),
        (again.json()["id"], "completed"),
    ]
    assert texts(rows, "assistant") == ["all done"]


def test_a_plan_that_was_approved_goes_on_without_another_question(
    stack: Stack, model: ScriptedModel
) -> None:
    is_stuck = True
    team = Team(
        stack, model, lambda _: ENDLESS if is_stuck else {"text": "done"}, approve_plans=True
    )
    turn = team.ask(plan(task("t1")))
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["waits_for"] == "people", "nobody is asked")
    decided = {"decisions": [{"type": "approve"}]}
    assert stack.client.post(f"/turns/{turn['turn_id']}/decisions", json=decided).is_success
    stack.wait_for(lambda: team.asked["t1"], "the task does not run")
    stop(stack, turn["turn_id"])
    stack.wait_for(
        lambda: team.statuses(turn["session_id"])["t1"] == "stopped", "the task does not stop"
    )
    is_stuck = False

    again = stack.client.post(f"/turns/{turn['turn_id']}/retry").json()

    assert stack.finished(again["id"])["status"] == "succeeded"
    assert team.statuses(turn["session_id"]) == {"t1": "succeeded"}
    rows, _ = check_views(stack, turn["session_id"])
    assert [row["content_type"] for row in rows].count("interrupt") == 1


def test_a_stopped_plan_of_which_nothing_is_left_to_do_ends_with_the_retry(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda _: ENDLESS)
    turn = team.ask(plan(task("t1")))
    stack.wait_for(lambda: team.asked["t1"], "the task does not run")
    stop(stack, turn["turn_id"])
    stack.wait_for(
        lambda: team.statuses(turn["session_id"])["t1"] == "stopped", "the task does not stop"
    )
    # As when its turn has come to its end in the moment in which it was to be stopped.
    stack.query_and_commit(
        "UPDATE tasks SET status = 'succeeded', output = '{\"text\": \"just so\"}'"
        " WHERE conversation_id = :id",
        id=turn["session_id"],
    )

    again = stack.client.post(f"/turns/{turn['turn_id']}/retry").json()

    assert stack.finished(again["id"])["status"] == "succeeded"
    assert team.result()["tasks"][0]["output"]["text"] == "just so"
    assert team.asked["t1"] == 1
    rows, _ = check_views(stack, turn["session_id"])
    calls = [row["status"] for row in rows if row["content_type"] == "tool_call"]
    assert calls == ["failed", "completed"]


def test_a_session_is_deleted_while_its_tasks_run(stack: Stack, model: ScriptedModel) -> None:
    team = Team(stack, model, lambda _: ENDLESS)
    turn = team.ask(plan(task("t1"), task("t2")))
    stack.wait_for(lambda: team.asked.total() == 2, "the tasks do not run")

    assert stack.client.delete(f"/sessions/{turn['session_id']}").status_code == 204

    assert stack.query("SELECT 1 FROM conversations WHERE domain_name = :d", d=team.domain) == []


def test_a_turn_goes_on_when_people_have_decided_and_its_tasks_have_ended(
    stack: Stack, model: ScriptedModel
) -> None:
    rules = [{"tools": "list_sources", "action": "ask"}]
    asking = {"tools": ["list_sources"], "middleware": [{"approvals": {"rules": rules}}]}
    team = Team(stack, model, **asking)
    turn = team.ask({"name": "list_sources", "args": {}}, plan(task("t1")))

    def has_ended() -> bool:
        return bool(team.plans(turn["session_id"])) and (
            team.plans(turn["session_id"])[0]["status"] == "succeeded"
        )

    stack.wait_for(has_ended, "the plan does not end")
    stack.wait_for(
        lambda: stack.turn(turn["turn_id"])["status"] == "waiting", "the turn does not wait"
    )
    assert team.results == []
    decided = {"decisions": [{"type": "approve"}]}
    assert stack.client.post(f"/turns/{turn['turn_id']}/decisions", json=decided).is_success

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert "Sources" in team.results[0]
    assert team.result()["tasks"][0]["output"]["text"] == "did t1"


def test_a_task_that_waits_for_an_approval_says_so_and_is_told(
    stack: Stack, model: ScriptedModel
) -> None:
    rules = [{"tools": "list_sources", "action": "ask"}]
    asking = {"tools": ["list_sources"], "middleware": [{"approvals": {"rules": rules}}]}
    call: JSON = {"tools": [{"name": "list_sources", "args": {}}]}
    team = Team(
        stack, model, lambda _: call if team.asked["t1"] == 1 else {"text": "did it"}, asking
    )
    turn = team.ask(plan(task("t1")))
    session_id = turn["session_id"]

    def waits() -> JSON | None:
        found = team.tasks(session_id) if team.plans(session_id) else {}
        return found["t1"] if found and found["t1"]["waiting_for_approval"] else None

    waiting = stack.wait_for(waits, "the task does not wait for an approval")
    listed = stack.client.get("/approvals", params={"status": "pending"}).json()["items"]
    (asked,) = [one for one in listed if one["session_id"] == waiting["session_id"]]
    assert waiting["status"] == "running"
    url = f"/approvals/{asked['id']}/decision"
    assert stack.client.post(url, json={"type": "approve"}).is_success

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    one = team.tasks(session_id)["t1"]
    assert (one["status"], one["waiting_for_approval"]) == ("succeeded", False)
    assert _told(stack, session_id, "t1") == [
        ("running", False), ("running", True), ("running", False), ("succeeded", False)
    ]  # fmt: skip


def _told(stack: Stack, session_id: str, temp_id: str) -> list[tuple[str, bool]]:
    """How a task was told to whoever has followed from the beginning."""
    found = []
    with stack.events(session_id, **{"Last-Event-ID": "0"}) as events:
        for event in events:
            if event["event"] == "task_updated" and event["data"]["task"]["temp_id"] == temp_id:
                task = event["data"]["task"]
                found.append((task["status"], task["waiting_for_approval"]))
            if event["event"] == "turn_finished":
                return found
    return found


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


@pytest.mark.parametrize(
    ("decision", "then"),
    [
        ("skip", {"asks": "failed", "last": "skipped", "other": "succeeded"}),
        ("stop", {"asks": "failed", "last": "stopped", "other": "stopped"}),
    ],
)
def test_a_task_that_asks_is_left_out_or_ends_its_plan(
    stack: Stack, model: ScriptedModel, decision: str, then: JSON
) -> None:
    quick = {"asks": FAILING, "other": {"text": "fine"} if decision == "skip" else ENDLESS}
    team = Team(stack, model, lambda name: quick[name])
    turn = team.ask(plan(task("asks", onFailure="ask"), task("last", "asks"), task("other")))

    def asks() -> JSON | None:
        found = team.tasks(turn["session_id"]) if team.plans(turn["session_id"]) else {}
        is_asking = found and found["asks"]["status"] == "asking" and team.asked["other"]
        return found["asks"] if is_asking else None

    asking = stack.wait_for(asks, "no task asks")
    answer = stack.client.post(f"/tasks/{asking['id']}/decision", json={"decision": decision})
    assert answer.json()["status"] == "failed", answer.text

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    stack.wait_for(lambda: team.statuses(turn["session_id"]) == then, "the tasks do not end so")
    assert [one["status"] for one in team.result()["tasks"]] == list(then.values())
    assert team.result()["tasks"][0]["error"]
