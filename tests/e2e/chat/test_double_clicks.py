"""A hurried person: what is clicked again, while the first click is worked on, is done once."""

from tests.e2e.desk import Desk
from tests.e2e.twice import button, click_twice, count
from tests.fakes import ScriptedModel
from tests.integration.turns.test_rebuilding import SPOILS, talk
from tests.stack import Stack


def test_a_failed_turn_is_tried_again_once_and_what_the_agent_remembers_is_rebuilt_once(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    session_id = talk(stack, model)
    stack.query_and_commit(SPOILS["snapshot"].format(session_id))
    stack.finished(stack.submit("And now?", session_id)["turn_id"])
    desk.open(f"?session={session_id}")

    click_twice(stack, button(desk, "Rebuild what the agent remembers"), "conversations")

    desk.sees("was rebuilt from the messages above")
    desk.has_no_complaint()
    desk.sees_once("was rebuilt from the messages above")
    model.steps = [{"status": 400}]
    desk.ask("Is it there?")
    retry = button(desk, "Retry")
    desk.sees("Is it there?")
    desk.is_idle()
    model.steps = [{"text": "Here it is."}]
    turns = f"turns WHERE conversation_id = '{session_id}'"
    before = count(stack, turns)

    click_twice(stack, retry, "conversations")

    desk.sees("Here it is.")
    desk.is_idle()
    desk.sees_not("Session busy")
    assert count(stack, turns) == before + 1
