"""What the database refuses for good ends the turn at once, with a reason."""

from tests.fakes import script
from tests.stack import Stack


def test_step_that_cannot_be_saved_fails_the_turn_once(stack: Stack) -> None:
    session_id = stack.client.post("/sessions", json={}).json()["id"]
    stack.query_and_commit(
        "ALTER TABLE display_messages ADD CONSTRAINT no_poison"
        " CHECK (content->>'text' IS DISTINCT FROM 'poison')"
    )

    turn = stack.submit(script({"text": "poison"}), session_id)

    ended = stack.finished(turn["turn_id"])
    assert (ended["status"], ended["attempts"]) == ("failed", 1)
    assert stack.chat(script({"text": "well"}), session_id)["status"] == "succeeded"
