"""A task that fails is tried again, left out or asked about, as its plan says."""

import json
import threading

import pytest

from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel
from tests.integration.plans.team import FAILING, Team, plan, task
from tests.integration.scenes import check_problem
from tests.stack import Stack


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


@pytest.mark.parametrize(
    ("limits", "title"),
    [({"steps": 4}, "Step limit reached"), ({"tokens": 20_000}, "Token limit reached")],
)
def test_a_task_that_reached_a_limit_is_not_tried_again(
    stack: Stack, model: ScriptedModel, limits: JSON, title: str
) -> None:
    step = {"tools": [{"name": "list_sources", "args": {}}], "text": "much " * 3_000}
    specialist = {"tools": ["list_sources"]}
    team = Team(stack, model, lambda _: step, specialist=specialist, limits=limits)
    manager = model.steps
    model.steps = lambda messages, body: (
        manager(messages, body) if "run_plan" in json.dumps(body["tools"]) else step
    )
    turn = team.ask(plan(task("t1"), task("t2", "t1")))

    stack.finished(turn["turn_id"])

    tasks = team.tasks(turn["session_id"])
    assert (tasks["t1"]["error"]["title"], tasks["t1"]["tries"]) == (title, 1)
    assert [one["status"] for one in tasks.values()] == ["failed", "skipped"]


def test_a_session_says_whether_it_waits_for_its_tasks_or_for_a_person(
    stack: Stack, model: ScriptedModel
) -> None:
    goes_on = threading.Event()
    replies = iter([{"text": "so far", "until": goes_on}, FAILING])
    team = Team(stack, model, lambda _: next(replies))
    turn = team.ask(plan(task("first"), task("asks", "first", onFailure="ask")))

    def seen() -> tuple[str, str | None]:
        session = stack.client.get(f"/sessions/{turn['session_id']}").json()
        return session["status"], session["waits_for"]

    stack.wait_for(lambda: seen() == ("waiting", "tasks"), "it does not wait for its tasks")
    goes_on.set()
    stack.wait_for(lambda: seen() == ("waiting", "people"), "it does not wait for a person")
    stack.client.post(f"/turns/{turn['turn_id']}/stop")
    stack.wait_for(lambda: seen() == ("idle", None), "it waits for something still")
