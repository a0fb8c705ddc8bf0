"""Bugs that runs under faults have found, each as a story of its own."""

from tests.fakes import script
from tests.integration.scenes import check_views, texts
from tests.stack import Stack


def test_a_turn_tried_again_waits_behind_one_that_runs(stack: Stack) -> None:
    running = stack.submit(script({"text": "word " * 40, "delay": 0.05}))
    session_id = running["session_id"]
    waiting = stack.submit("after you", session_id)
    stack.client.post(f"/turns/{waiting['turn_id']}/stop")

    again = stack.client.post(f"/turns/{waiting['turn_id']}/retry").json()

    assert (again["status"], again["queue_position"]) == ("queued", 1)
    assert stack.finished(running["turn_id"])["status"] == "succeeded"
    assert stack.finished(again["id"])["status"] == "succeeded"
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "user")[1:] == ["after you"]
    assert [row["message_type"] for row in rows] == ["user", "assistant"] * 2
