"""The inspector, in a browser: why the model forgot, and exactly what it was sent."""

import pytest
from playwright.sync_api import expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

LONG = "The ledger of that year says, line by line, what was spent and by whom. " * 12


def _answer(messages: list[JSON], body: JSON) -> JSON:
    if "[person]" in str(messages):
        return {"text": "So far: what was spent, year by year."}
    return {"text": f"So much. {LONG}"}


@pytest.mark.journey
def test_a_person_learns_why_the_model_forgot(desk: Desk, model: ScriptedModel, stack: Stack):
    model.steps = _answer
    policy = {"summarization": {"trigger_tokens": 900, "keep_tokens": 300}}
    domain = make_domain(stack, tools=[], system_prompt="Be brief.", middleware=[policy])
    session_id = make_session(stack, domain["name"], "What was spent")
    for number in range(7):
        stack.chat(f"What was spent in 20{number:02}?", session_id)

    desk.open(f"?session={session_id}")
    desk.main.get_by_role("link", name="Inspector").click()

    desk.sees("What the model reads next", "of 900 tokens", "What was spent in 2000?")
    desk.sees("the model reads the summary instead", "Not shown to people.")
    desk.sees("what was spent, year by year.")
    desk.main.get_by_text("Only what differs").click()
    desk.sees_not("What was spent in 2006?")

    desk.main.get_by_text("Model calls").click()
    desk.sees("Choose a call")
    desk.page.get_by_role("button", name="Turn 7, step 1 · Answer").click()
    desk.sees("Exactly what was sent", "Be brief.", "What was spent in 2006?")

    desk.page.get_by_role("link", name="What was spent").first.click()
    expect(desk.composer).to_be_visible()
