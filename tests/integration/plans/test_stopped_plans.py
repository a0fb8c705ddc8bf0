"""A plan stops with its turn, and goes on where it was after a stop or a decision."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import create_engine, text

from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_views, stop, texts
from tests.stack import Stack


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


def test_a_plan_that_has_ended_keeps_its_result_when_its_turn_is_stopped(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda name: ENDLESS if name == "t1" else {"text": f"did {name}"})
    call = {"name": "call_agent", "args": {"name": "Writer", "message": "work t3;"}}
    turn = team.ask(plan(task("t1")), plan(task("t2")), call)
    session_id = turn["session_id"]

    def have_ended() -> bool:
        return [one["status"] for one in team.plans(session_id)].count("succeeded") == 2

    stack.wait_for(have_ended, "the plans do not end")
    stack.wait_for(
        lambda: stack.turn(turn["turn_id"])["status"] == "waiting", "the turn does not wait"
    )

    assert stop(stack, turn["turn_id"])["status"] == "stopped"

    rows, state = check_views(stack, session_id)
    shown = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    calls = [row["status"] for row in rows if row["content_type"] == "tool_call"]
    stopped, planned, called = (message["content"] for message in state["messages"][-3:])
    assert "so those were stopped" in stopped
    assert "did t2" in planned and "did t3" in called
    assert calls == ["failed", "completed", "completed"]
    assert [result["is_error"] for result in shown] == [True, False, False]


def test_a_plan_that_ends_while_its_turn_is_being_stopped_keeps_its_result(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model, lambda _: ENDLESS)
    turn = team.ask(plan(task("t1")))
    stack.wait_for(lambda: team.asked["t1"], "the task does not run")
    stack.wait_for(
        lambda: stack.turn(turn["turn_id"])["status"] == "waiting", "the turn does not wait"
    )
    engine, of_turn = create_engine(stack.database_url), {"id": turn["turn_id"]}

    with ThreadPoolExecutor(1) as pool, engine.begin() as ending:
        for change in (
            "SELECT FROM turns WHERE id = :id FOR NO KEY UPDATE",
            "UPDATE plans SET status = 'succeeded' WHERE turn_id = :id",
            "UPDATE tasks SET status = 'succeeded', output = '{\"text\": \"just so\"}'"
            " FROM plans WHERE plans.id = plan_id AND plans.turn_id = :id",
        ):
            ending.execute(text(change), of_turn)
        stopping = pool.submit(stop, stack, turn["turn_id"])
        stack.wait_for(lambda: _is_waited(stack), "the stop does not arrive")
        ending.commit()
        stopping.result(30)
    engine.dispose()

    _, state = check_views(stack, turn["session_id"])
    assert "just so" in state["messages"][-1]["content"]
    stop(stack, team.tasks(turn["session_id"])["t1"]["turn_id"])


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
    parent = stack.client.get(f"/sessions/{session_id}").json()
    assert (asked["session_title"], asked["parent_title"]) == ("Task t1", parent["title"])
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


def _is_waited(stack: Stack) -> bool:
    """Whether somebody waits for what another transaction holds."""
    (row,) = stack.query(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    return bool(row.count)
