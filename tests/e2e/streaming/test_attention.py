"""A person who looks elsewhere while a turn runs is told when it ends or waits for them."""

import re
from threading import Event

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.plans.team import FAILING, Team, plan, task
from tests.stack import Stack

MARKED = re.compile("^● ")
LOOKS_AWAY = "() => { document.hasFocus = () => false; }"
COMES_BACK = """() => {
  delete document.hasFocus;
  window.dispatchEvent(new Event("focus"));
}"""
# The system's notifications are not to be seen by a test: what would be shown is kept.
SYSTEM = """
window.notified = [];
window.Notification = class {
  static permission = "default";
  static requestPermission = async () => (window.Notification.permission = window.answer);
  constructor(title, { body }) { window.notified.push([title, body]); }
  close() { window.notified.pop(); }
};
"""


def streaming(model: ScriptedModel) -> Event:
    """Have the model say something and go on when the event is set."""
    goes_on = Event()
    model.steps = lambda messages, body: {"text": "Said so far.", "until": goes_on}
    return goes_on


@pytest.mark.journey
def test_the_tab_is_marked_until_it_is_looked_at_and_not_while_somebody_watches(
    desk: Desk, model: ScriptedModel
):
    goes_on = streaming(model)
    desk.ask("How much is it?")
    desk.sees("Said so far.")
    goes_on.set()
    desk.is_idle()
    expect(desk.page).to_have_title("How much is it? · Colloquy")

    goes_on = streaming(model)
    desk.ask("And now?")
    expect(desk.main.get_by_text("Said so far.")).to_have_count(2)
    desk.page.evaluate(LOOKS_AWAY)
    goes_on.set()
    expect(desk.page).to_have_title(MARKED)
    desk.is_idle()
    expect(desk.page).to_have_title("● How much is it? · Colloquy")
    desk.page.evaluate(COMES_BACK)
    expect(desk.page).to_have_title("How much is it? · Colloquy")


def test_the_tab_is_marked_when_a_task_of_a_plan_asks(
    desk: Desk, stack: Stack, model: ScriptedModel
):
    goes_on = Event()
    first = {"text": "Said so far.", "until": goes_on}
    team = Team(stack, model, lambda name: first if name == "t1" else FAILING)
    turn = team.ask(plan(task("t1"), task("t2", "t1", onFailure="ask")))
    desk.open(f"?session={turn['session_id']}")
    desk.sees("Said so far.")
    desk.page.evaluate(LOOKS_AWAY)

    goes_on.set()

    expect(desk.page).to_have_title(MARKED)
    desk.sees("Task t2 has failed.")


def test_a_notification_is_shown_to_those_who_asked_for_it_and_have_not_turned_it_off(
    own_desk: Desk, model: ScriptedModel
):
    own_desk.context.add_init_script(SYSTEM)
    goes_on = streaming(model)
    own_desk.ask("How much is it?")
    own_desk.page.evaluate("() => { window.answer = 'denied'; }")
    own_desk.press("Notify me when it ends")
    own_desk.sees("Your browser blocks notifications from this address.")
    own_desk.page.evaluate("() => { window.answer = 'granted'; }")
    own_desk.press("Your browser blocks notifications from this address.")
    own_desk.press("You will be notified · Turn off")
    own_desk.sees("Notify me when it ends")
    own_desk.page.evaluate(LOOKS_AWAY)
    goes_on.set()
    expect(own_desk.page).to_have_title(MARKED)
    assert own_desk.page.evaluate("window.notified") == []
    own_desk.page.evaluate(COMES_BACK)
    own_desk.is_idle()

    goes_on = streaming(model)
    own_desk.ask("And now?")
    own_desk.press("Notify me when it ends")
    expect(own_desk.main.get_by_role("button", name="You will be notified")).to_be_visible()
    own_desk.page.evaluate(LOOKS_AWAY)
    goes_on.set()
    own_desk.page.wait_for_function("() => window.notified.length")
    assert own_desk.page.evaluate("window.notified") == [
        ["How much is it? · Colloquy", "The answer is ready."]
    ]
    own_desk.page.evaluate(COMES_BACK)
    assert own_desk.page.evaluate("window.notified") == []
