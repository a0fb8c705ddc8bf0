"""Unsent text stays in its composer: when the tab is reloaded, and when the pages start anew."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.processes import kill_process
from tests.stack import Stack

FILL_STORAGE = """() => {
  for (let size = 2 ** 23; size > 2 ** 10; size /= 2)
    try { sessionStorage.setItem(`filler-${size}`, "\u0436".repeat(size)); } catch { /* full */ }
}"""

PASTE_AND_RELOAD = """(area, text) => {
  area.select();
  document.execCommand("insertText", false, text);
  location.reload();
}"""


@pytest.mark.journey
def test_a_reload_keeps_the_unsent_text_of_each_session_and_brings_back_none_that_was_sent(
    desk: Desk, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    desk.ask("First")
    desk.sees("An answer.")
    desk.is_idle()
    session = desk.session_id
    desk.composer.fill("about the first")
    desk.new_chat()
    desk.composer.fill("about something new")

    desk.page.reload()

    expect(desk.composer).to_have_value("about something new")
    desk.row(session).click()
    expect(desk.composer).to_have_value("about the first")
    desk.page.reload()
    expect(desk.composer).to_have_value("about the first")
    desk.composer.press("Enter")
    desk.sees_once("about the first")
    desk.new_chat()
    expect(desk.composer).to_have_value("about something new")

    desk.composer.press("Enter")
    desk.sees("An answer.")
    desk.is_idle()
    desk.page.reload()
    desk.sees("An answer.")
    expect(desk.composer).to_have_value("")
    desk.new_chat()
    expect(desk.composer).to_have_value("")


def test_text_that_is_too_long_to_be_stored_is_not_left_without_a_question(desk: Desk):
    desk.page.on("dialog", lambda dialog: dialog.dismiss())
    desk.page.evaluate(FILL_STORAGE)
    desk.composer.press("x")  # a browser asks only where somebody has acted

    with desk.page.expect_event("dialog") as asked:
        desk.composer.evaluate(PASTE_AND_RELOAD, "Which of them? " * 1_000)

    assert asked.value.type == "beforeunload"
    expect(desk.composer).not_to_have_value("")


def test_pages_that_start_anew_keep_the_unsent_text(
    context: BrowserContext, stack: Stack, model: ScriptedModel
):
    model.steps = lambda messages, body: {"text": "An answer."}
    url = stack.start_ui()
    desk = Desk(context, url)
    desk.ask("First")
    desk.sees("An answer.")
    desk.is_idle()
    session = desk.session_id
    desk.composer.fill("What comes next?")

    kill_process(stack.others.pop())
    stack.start_ui(port=urlsplit(url).port)

    desk.row(desk.session_id).click()  # the browser asks again
    desk.new_chat()
    desk.row(session).click()
    expect(desk.composer).to_have_value("What comes next?")
    desk.composer.press("Enter")
    desk.sees_once("What comes next?")
    desk.is_idle()
    expect(desk.main.get_by_text("An answer.")).to_have_count(2)
