"""Editing a message, asking for another answer, and going between versions, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk, without_end
from tests.fakes import ScriptedModel

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


@pytest.mark.journey
def test_an_edited_message_is_another_version(desk: Desk, model: ScriptedModel):
    talk(desk, model, FIRST, SECOND)

    desk.edit(FIRST, "What is the last figure?")

    desk.sees("What is the last figure?", "Answer 3 is here.", "2/2")
    desk.sees_not(SECOND)
    desk.is_idle()
    expect(desk.version("Later")).to_be_disabled()
    desk.version("Earlier").click()
    desk.sees(FIRST, "Answer 1 is here.", SECOND, "Answer 2 is here.", "1/2")
    desk.sees_not("Answer 3 is here.")
    desk.version("Later").click()
    desk.sees("What is the last figure?", "Answer 3 is here.", "2/2")
    desk.sees_not(SECOND)


def test_a_cleared_session_begins_anew_and_what_was_said_comes_back(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST)

    desk.choose(desk.session_id, "Clear")

    desk.sees("the agent starts anew")
    desk.sees_not("Answer 1 is here.")
    desk.press("Show the earlier messages")
    desk.sees(FIRST, "Answer 1 is here.")
    desk.choose(desk.session_id, "Clear")
    desk.sees("the agent starts anew")
    desk.ask(SECOND)
    desk.sees("Answer 2 is here.", "2/2")
    assert [m["content"] for m in model.messages[-1] if m["role"] == "user"] == [SECOND]
    desk.is_idle()
    desk.version("Earlier").click()
    desk.sees(FIRST, "Answer 1 is here.", "1/2")


def test_an_edit_is_cancelled_by_key_or_button_and_the_draft_below_stays(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST)
    desk.composer.fill("Not sent yet")

    for cancel in (lambda: desk.editor.press("Escape"), lambda: desk.press("Cancel")):
        desk.main.get_by_role("button", name="Edit", exact=True).click()
        expect(desk.editor).to_be_focused()
        desk.editor.fill("Something else?")
        cancel()
        expect(desk.editor).to_have_count(0)
        desk.sees(FIRST, "Answer 1 is here.")
        desk.sees_not("Something else?")

    expect(desk.composer).to_have_value("Not sent yet")


def test_a_reload_and_another_tab_show_the_branch_that_is_active_and_it_goes_on_where_it_was_left(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST, SECOND)
    first_tab, query = desk.page, desk.query
    desk.open(query)
    desk.sees("Answer 2 is here.")

    desk.edit(FIRST, "Asked in the second tab")

    desk.sees("Answer 3 is here.")
    desk.page = first_tab
    desk.sees("Asked in the second tab", "Answer 3 is here.")
    desk.sees_not(SECOND)
    first_tab.reload()
    desk.sees("Asked in the second tab", "2/2")
    desk.version("Earlier").click()
    desk.sees(SECOND)
    desk.page = desk.context.pages[-1]
    desk.sees(SECOND)
    expect(desk.page).to_have_url(re.compile(re.escape(query)))

    desk.ask("And so on?")
    desk.sees("Answer 4 is here.")
    asked = [m["content"] for m in model.messages[-1] if m["role"] == "user"]
    assert asked == [FIRST, SECOND, "And so on?"]


def test_a_double_click_asks_for_one_other_answer_and_while_a_turn_runs_nothing_can_be_edited(
    desk: Desk, model: ScriptedModel
):
    talk(desk, model, FIRST)

    desk.main.get_by_role("button", name="Another answer").dblclick()
    desk.sees("Answer 2 is here.", "2/2")
    desk.sees_not("Answer 1 is here.")
    desk.is_idle()
    assert len(model.requests) == 2

    model.steps = without_end("word word word")
    desk.ask(SECOND)
    desk.sees("word word")
    button = desk.main.get_by_role("button", name="Edit").first
    expect(button).to_be_disabled()
    desk.tells(button, "Not available while a turn runs")
    desk.press("Stop")
    desk.is_idle()
    expect(button).to_be_enabled()
