"""Admins see what runs and waits, and let a worker drain without losing a turn."""

from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.scenes import stop
from tests.stack import Stack


def test_work_lists_running_turns_and_workers(stack: Stack) -> None:
    turn = stack.submit(script(ENDLESS))
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "it does not run")

    ((name,),) = stack.query("SELECT name FROM users WHERE id = 'local'")
    stack.query_and_commit("UPDATE users SET name = 'Ada' WHERE id = 'local'")
    work = stack.client.get("/work").json()
    stack.query_and_commit("UPDATE users SET name = :name WHERE id = 'local'", name=name)

    (listed,) = (one for one in work["turns"] if one["id"] == turn["turn_id"])
    assert (listed["owner"], listed["owner_name"]) == ("local", "Ada")
    assert work["workers"][0]["capacity"] == 8
    stop(stack, turn["turn_id"])
    stack.finished(turn["turn_id"])


def test_drained_worker_ends_its_turn_and_then_itself(patient_stack: Stack) -> None:
    stack = patient_stack
    turn = stack.submit(script({"text": "word " * 40, "delay": 0.1}))
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "it does not run")
    name = stack.client.get("/work").json()["workers"][0]["name"]

    answer = stack.client.post(f"/workers/{name}/drain")

    assert answer.status_code == 202
    ended = stack.finished(turn["turn_id"])
    assert (ended["status"], ended["attempts"]) == ("succeeded", 1)
    stack.wait_for(lambda: stack.workers[0].poll() == 0, "the drained worker does not end")
    (event,) = stack.query("SELECT * FROM audit_events WHERE subject_id = :name", name=name)
    assert (event.actor, event.action, event.subject) == ("local", "drained", "worker")


def test_worker_that_must_end_hands_its_turn_over(
    patient_stack: Stack, model: ScriptedModel
) -> None:
    stack = patient_stack
    slow = {"text": "word " * 150, "delay": 0.1}  # longer than a worker that must end may take
    model.steps = lambda *_: slow if len(model.requests) == 1 else {"text": "done"}
    turn = stack.submit("hello")
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "it does not run")
    stack.start_worker()

    stack.workers[0].terminate()

    assert stack.finished(turn["turn_id"])["attempts"] == 2
    rows = stack.messages(turn["session_id"])
    assert [row["content"] for row in rows if row["content_type"] == "notice"] == []


def test_draining_an_unknown_worker_is_refused(stack: Stack) -> None:
    answer = stack.client.post("/workers/nobody/drain")

    assert answer.status_code == 404
