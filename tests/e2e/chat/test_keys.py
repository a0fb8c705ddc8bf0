"""What keys do: Escape stops the turn that runs, ? lists all others, Tab goes where one looks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.e2e.desk import Desk, without_end
from tests.e2e.files import formats
from tests.e2e.files.handing import drop
from tests.fakes import ScriptedModel
from tests.stack import Stack

# Safari sends the key after the composition has ended; all browsers give it this code.
ACCEPT_WORD = """area => {
  const key = { key: "Enter", keyCode: 229, bubbles: true, cancelable: true };
  area.dispatchEvent(new KeyboardEvent("keydown", key));
  return area.value;
}"""


@pytest.mark.journey
def test_a_turn_is_stopped_by_button_and_by_escape_but_not_while_that_closes_something(
    desk: Desk, model: ScriptedModel
):
    stop = desk.page.get_by_role("button", name="Stop", exact=True)
    stopped = desk.main.get_by_text("Stopped here")
    model.steps = without_end("What was said so far.")
    desk.ask("Tell me")
    desk.sees("What was said so far.")

    desk.press("Stop")
    desk.is_idle()
    desk.sees("What was said so far.", "Stopped here")
    expect(desk.page.get_by_role("button", name="Retry")).to_be_visible()

    model.steps = without_end("And what was said then.")
    desk.ask("Tell me more")
    desk.sees("And what was said then.")
    expect(stop).to_be_visible()
    desk.open_menu(desk.session_id)
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_role("menuitem", name="Rename")).to_have_count(0)
    desk.choose(desk.session_id, "Rename")
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("?")
    expect(desk.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(desk.page.get_by_role("dialog")).to_have_count(0)
    expect(stop).to_be_visible()
    desk.composer.press("Escape")

    desk.is_idle()
    desk.sees("What was said so far.", "And what was said then.")
    expect(stopped).to_have_count(2)


def test_escape_before_the_turn_is_there_stops_it_unless_one_writes_on(
    desk: Desk, model: ScriptedModel
):
    model.steps = without_end("The first answer")

    with _message_on_its_way(desk, "Tell me"):
        desk.composer.press("Escape")
    desk.sees("Stopped")
    desk.is_idle()
    model.steps = without_end("The second answer")
    with _message_on_its_way(desk, "Tell me more"):
        desk.composer.press("Escape")
        desk.composer.press_sequentially("And")
    desk.sees("The second answer")
    desk.is_at_rest()

    expect(desk.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
    desk.composer.press("Escape")
    expect(desk.main.get_by_text("Stopped")).to_have_count(2)


def test_keys_of_one_who_writes_do_nothing_else_and_tab_goes_into_what_a_button_has_opened(
    desk: Desk,
):
    desk.composer.fill("日本")
    assert desk.composer.evaluate(ACCEPT_WORD) == "日本"
    expect(desk.sent).to_have_count(0)
    desk.composer.fill("")
    desk.composer.press_sequentially("Really?")
    expect(desk.composer).to_have_value("Really?")
    expect(desk.page.get_by_role("dialog")).to_have_count(0)

    desk.press("Keyboard shortcuts")
    listed = desk.page.get_by_role("dialog", name="Keyboard shortcuts")
    for key in ("Ctrl+K", "Ctrl+Shift+O", "Shift+Enter", "Esc", "F2"):
        expect(listed.get_by_text(key, exact=True).first).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(listed).to_have_count(0)
    desk.main.get_by_role("heading").first.click()
    desk.page.keyboard.press("?")
    expect(listed).to_be_visible()
    desk.page.keyboard.press("Escape")
    expect(listed).to_have_count(0)

    desk.is_at_rest()
    opener, opened = desk.link("Administration"), desk.opened("Administration")
    opener.press("Enter")
    expect(opened).to_be_focused()
    desk.page.keyboard.press("Tab")
    expect(opened.get_by_role("button").first).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    expect(opener).to_be_focused()


@contextmanager
def _message_on_its_way(desk: Desk, text: str) -> Iterator[None]:
    """Send a message that arrives when this is left."""
    held: list[Route] = []
    # Not the method itself: Playwright takes none that is built in.
    desk.on_sending(lambda route: held.append(route), times=1)
    with desk.is_sending():
        desk.ask(text)
    yield
    held.pop().continue_()


def test_ctrl_and_enter_send_a_message_an_edit_and_a_message_with_a_file(
    desk: Desk, model: ScriptedModel, tmp_path: Path
):
    model.steps = lambda messages, body: {"text": f"Answer {len(model.messages)}."}
    (path,) = formats.write(tmp_path, orders_xlsx=formats.workbook())

    desk.composer.fill("one")
    desk.composer.press("Control+Enter")
    desk.sees("Answer 1.")
    desk.is_idle()
    desk.is_at_rest()
    desk.main.get_by_role("button", name="Edit", exact=True).click()
    desk.editor.fill("two")
    desk.page.keyboard.press("Control+Enter")
    desk.sees("Answer 2.")
    desk.is_idle()
    drop(desk, desk.composer, path)
    desk.has_files("orders.xlsx")
    desk.composer.fill("three")
    desk.composer.press("Meta+Enter")

    desk.sees("Answer 3.")
    desk.sees_once("Attached file: orders.xlsx")
    assert model.messages[1][-1] == {"role": "user", "content": "two"}


def test_the_focus_stays_in_the_chat_when_what_was_pressed_disappears(
    desk: Desk, model: ScriptedModel
):
    def button(name: str) -> Locator:
        return desk.main.get_by_role("button", name=name, exact=True)

    model.steps = lambda messages, body: {"text": f"Answer to {messages[-1]['content']}."}
    desk.ask("one")
    desk.sees("Answer to one.")
    desk.is_idle()
    desk.is_at_rest()

    button("Edit").press("Enter")
    editor = desk.editor
    expect(editor).to_be_focused()
    editor.press("Escape")
    expect(button("Edit")).to_be_focused()
    desk.page.keyboard.press("Enter")
    editor.fill("two")
    editor.press("Enter")
    desk.sees("Answer to two.")
    desk.is_idle()
    expect(desk.composer).to_be_focused()
    button("Earlier version").press("Enter")
    desk.sees("Answer to one.")
    expect(button("Later version")).to_be_focused()
    model.steps = without_end("On and on")
    desk.ask("three")
    desk.sees("On and on")
    button("Stop").press("Enter")
    desk.is_idle()

    expect(desk.composer).to_be_focused()


def test_a_new_chat_can_be_written_in_at_once(desk: Desk, stack: Stack):
    session_id = stack.chat("What is there?")["session_id"]
    desk.open(f"?session={session_id}")
    desk.is_in_a_session()

    desk.new_chat()
    expect(desk.composer).to_be_focused()
    desk.page.keyboard.type("Next")
    expect(desk.composer).to_have_value("Next")

    desk.row(session_id).click()
    desk.is_in_a_session()
    desk.page.keyboard.press("Control+Shift+O")
    desk.sees("What would you like to know?")
    expect(desk.composer).to_be_focused()

    desk.row(session_id).click()
    desk.page.keyboard.press("Control+Shift+O")  # with nothing between
    expect(desk.page).not_to_have_url(re.compile("session="))
    desk.is_at_rest()
    expect(desk.composer).to_be_focused()
    desk.sees("What would you like to know?")
    desk.sees_not("What is there?")


def test_tab_through_the_header_leaves_the_conversation_where_it_is_read(
    desk: Desk, model: ScriptedModel, stack: Stack
):
    model.steps = lambda messages, body: {"text": "\n\n".join(map(str, range(100)))}
    session_id = stack.chat("Count.")["session_id"]
    desk.open(f"?session={session_id}")
    expect(desk.main.get_by_text("99", exact=True)).to_be_in_viewport()
    desk.is_at_rest()
    desk.lies_still()

    desk.main.focus()
    for link in ("Search in this session", "Configuration", "Inspector"):
        one = desk.main.get_by_role("link", name=link)
        while not one.evaluate("link => link === document.activeElement"):
            desk.page.keyboard.press("Tab")

    desk.lies_still()
    expect(desk.main.get_by_text("99", exact=True)).to_be_in_viewport()
