"""Editing a message, asking for another answer, and going between versions, in a browser."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk, without_end
from tests.fakes import ScriptedModel

TIMES = 5
FIRST, SECOND = "What is the first figure?", "And what is the second one?"


def talk(desk: Desk, model: ScriptedModel, *questions: str) -> None:
    """Ask these in a new session; each answer says which request it answers."""
    model.clear()
    model.steps = lambda messages, body: {"text": f"Answer {len(model.requests)} is here."}
    desk.new_chat()
    for number, question in enumerate(questions, 1):
        desk.ask(question)
        desk.sees(f"Answer {number} is here.")
        desk.is_idle()


def editor(desk: Desk) -> Locator:
    return desk.main.locator('[class*="st-key-edit-text-"] textarea')


def edit(desk: Desk, text: str, to: str) -> None:
    """Write a message anew, in its place, and press Enter."""
    message = desk.main.get_by_test_id("stChatMessage").filter(has_text=text)
    message.get_by_role("button", name="Edit").click()
    expect(editor(desk)).to_have_value(text)
    expect(editor(desk)).to_be_focused()
    editor(desk).fill(to)
    editor(desk).press("Enter")


def version(desk: Desk, word: str) -> Locator:
    return desk.main.get_by_role("button", name=f"{word} version")


@pytest.mark.journey
def test_an_edited_message_is_another_version(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST, SECOND)

    edit(desk, FIRST, "What is the last figure?")

    desk.sees("What is the last figure?", "Answer 3 is here.", "2/2")
    desk.sees_not(SECOND)
    desk.is_idle()
    expect(version(desk, "Later")).to_be_disabled()
    version(desk, "Earlier").click()
    desk.sees(FIRST, "Answer 1 is here.", SECOND, "Answer 2 is here.", "1/2")
    desk.sees_not("Answer 3 is here.")
    version(desk, "Later").click()
    desk.sees("What is the last figure?", "Answer 3 is here.", "2/2")
    desk.sees_not(SECOND)


def test_a_cleared_session_begins_anew_and_what_was_said_comes_back(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST)

    desk.page.locator(".sessions .row:has([aria-current=page]) .more").click()
    desk.page.get_by_role("menuitem", name="Clear").click()

    desk.sees("the agent starts anew")
    desk.sees_not("Answer 1 is here.")
    desk.press("Show the earlier messages")
    desk.sees(FIRST, "Answer 1 is here.")
    desk.page.locator(".sessions .row:has([aria-current=page]) .more").click()
    desk.page.get_by_role("menuitem", name="Clear").click()
    desk.sees("the agent starts anew")
    desk.ask(SECOND)
    desk.sees("Answer 2 is here.", "2/2")
    assert [m["content"] for m in model.messages[-1] if m["role"] == "user"] == [SECOND]
    desk.is_idle()
    version(desk, "Earlier").click()
    desk.sees(FIRST, "Answer 1 is here.", "1/2")


def test_escape_in_the_field_cancels_the_edit(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST)
    desk.main.get_by_role("button", name="Edit", exact=True).click()
    expect(editor(desk)).to_be_focused()
    editor(desk).fill("Something else?")

    editor(desk).press("Escape")

    expect(editor(desk)).to_have_count(0)
    desk.sees(FIRST, "Answer 1 is here.")
    desk.sees_not("Something else?")


def test_a_branch_goes_on_where_it_was_left(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST, SECOND)
    edit(desk, SECOND, "Something else?")
    desk.sees("Answer 3 is here.")
    desk.is_idle()
    version(desk, "Earlier").click()
    desk.sees("Answer 2 is here.")

    desk.ask("And so on?")

    desk.sees("Answer 4 is here.")
    asked = [m["content"] for m in model.messages[-1] if m["role"] == "user"]
    assert asked == [FIRST, SECOND, "And so on?"]


def test_a_double_click_asks_for_one_other_answer(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST)

    desk.main.get_by_role("button", name="Another answer").dblclick()

    desk.sees("Answer 2 is here.", "2/2")
    desk.sees_not("Answer 1 is here.")
    desk.is_idle()
    assert len(model.requests) == 2


def test_an_edit_is_cancelled_and_the_draft_below_stays(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST)
    composer = desk.page.locator('[class*="st-key-composer-"] textarea').filter(visible=True)
    composer.fill("Not sent yet")
    desk.main.get_by_role("button", name="Edit").click()
    editor(desk).fill("Never mind")

    desk.press("Cancel")

    expect(editor(desk)).to_have_count(0)
    desk.sees(FIRST)
    expect(composer).to_have_value("Not sent yet")


AT_ONCE = """button => {
  button.click();
  for (const ms of [0, 15, 30]) setTimeout(() => colloquyLive.set("changed", Date.now()), ms);
}"""


def test_the_text_to_be_edited_is_there_also_when_the_page_is_drawn_again_at_once(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST)

    for _ in range(TIMES):  # what came before such a run was seen may be lost with it
        desk.main.get_by_role("button", name="Edit").evaluate(AT_ONCE)
        expect(editor(desk)).to_have_value(FIRST)
        desk.is_at_rest()
        desk.press("Cancel")
        expect(editor(desk)).to_have_count(0)


def test_while_a_turn_runs_nothing_can_be_edited_and_it_says_why(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST)
    model.steps = without_end("word word word")
    desk.ask(SECOND)
    desk.sees("word word")

    button = desk.main.get_by_role("button", name="Edit").first

    expect(button).to_be_disabled()
    desk.tells(button, "Not available while a turn runs")
    desk.press("Stop")
    desk.is_idle()
    expect(button).to_be_enabled()


def test_a_reload_and_another_tab_show_the_branch_that_is_active(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST, SECOND)
    first_tab, query = desk.page, desk.query
    desk.open(query)
    desk.sees("Answer 2 is here.")

    edit(desk, FIRST, "Asked in the second tab")

    desk.sees("Answer 3 is here.")
    desk.page = first_tab
    desk.sees("Asked in the second tab", "Answer 3 is here.")
    desk.sees_not(SECOND)
    first_tab.reload()
    desk.sees("Asked in the second tab", "2/2")
    version(desk, "Earlier").click()
    desk.sees(SECOND)
    desk.page = desk.context.pages[-1]
    desk.sees(SECOND)
    expect(desk.page).to_have_url(re.compile(re.escape(query)))
