"""What axe-core finds on a page in use: while a turn runs, in cards, dialogs, menus and forms."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.accessibility import axe
from tests.e2e.conversation import ACTIVITY
from tests.e2e.desk import Desk
from tests.fakes import ENDLESS, ScriptedModel
from tests.stack import Stack

ROWS = "SELECT 'a' AS name, 1.5 AS amount UNION ALL SELECT 'b', 2.5"
CHART = {"source": "fi", "sql": ROWS, "title": "Amounts"}
CALLS = [
    {"name": "make_chart", "args": CHART},
    {"name": "query_source", "args": {"source": "fi", "sql": ROWS}},
    {"name": "missing_tool", "args": {"cost_centre": "CC-1001"}},
]
ANSWER = (
    "It is **1.5**: `a`, see [there](https://example.com).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)
TALL = {"width": 1280, "height": 1800}
# Collects what the status of a turn says, each time that a screen reader would read it.
LISTEN = """() => {
  window.said = [];
  const statusOf = ({ target }) =>
    (target.parentElement ?? target).closest('[role="status"]') ?? target;
  new MutationObserver((changes) => {
    for (const status of new Set(changes.map(statusOf)))
      if (status.matches?.('ACTIVITY')) window.said.push(status.textContent);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}""".replace("ACTIVITY", ACTIVITY)
GERMAN = "Sales\nday;amount\n31.12.2026;1,5\n"


def check(desk: Desk, state: str) -> None:
    """Make sure that nobody is kept out of the page as it is; no tip fades in meanwhile."""
    desk.page.mouse.move(0, 0)
    desk.lies_still()
    found = list(axe.faults(desk.page))
    axe.choose_theme(desk.page, "light")

    assert found == [], state


@pytest.fixture
def running(desk: Desk, model: ScriptedModel) -> Iterator[Desk]:
    """A chat whose answer has begun, with the cards of its tools open, and a queued message."""
    may_end = Event()
    model.steps = lambda messages, body: (
        {"think": "I see.", "text": ANSWER, "until": may_end}
        if messages[-1]["role"] == "tool"
        else {"think": "Which tools?", "text": "I look.", "tools": CALLS}
    )
    desk.page.set_viewport_size(TALL)  # type: ignore[arg-type]  # its TypedDict is private
    desk.ask("Show the amounts")
    desk.sees("It is")
    for name in ("query_source", "missing_tool"):
        desk.step(name).click()
    desk.ask("And then?")
    desk.sees("Waiting: 1 turn before it")
    yield desk
    may_end.set()


def test_a_screen_reader_is_told_what_a_turn_does_and_not_how_the_time_goes_by(
    desk: Desk, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {**ENDLESS, "think": "Which one?"}
    desk.page.evaluate(LISTEN)

    desk.ask("Tell me")
    expect(desk.status).to_contain_text("Writing… · 2 s · step 1")

    said = desk.page.evaluate("window.said")
    assert said[-1] == "Writing…"
    assert len(said) == len(set(said))


def test_a_running_turn_and_its_open_cards_keep_nobody_out(running: Desk) -> None:
    running.sees('"cost_centre"')
    expect(running.charts).to_be_visible()
    check(running, "a turn that runs, with open cards, a chart and a queued message")


def test_no_dialog_or_menu_of_a_chat_keeps_anybody_out(desk: Desk, stack: Stack) -> None:
    session_id = stack.chat("Good morning.")["session_id"]
    desk.open(f"?session={session_id}")
    desk.is_at_rest()
    dialog = desk.page.get_by_role("dialog")

    for name in ("Usage", "Export", "Administration"):
        desk.press(name)
        _check_opened(desk, name, desk.opened(name))
    desk.press("Share")
    dialog.get_by_role("button", name="Make a link").click()
    expect(dialog.get_by_text("Copy it now.")).to_be_visible()
    _check_opened(desk, "Share", dialog)
    desk.choose(session_id, "Allowed tools")
    _check_opened(desk, "Allowed tools", dialog)
    desk.page.keyboard.press("?")
    _check_opened(desk, "shortcuts", dialog)
    desk.open_menu(session_id)
    _check_opened(desk, "a session's menu", desk.page.get_by_role("menu"))
    desk.choose(session_id, "Rename")
    _check_opened(desk, "Rename", desk.item(session_id).get_by_role("textbox"))
    desk.choose(session_id, "Delete")
    _check_opened(desk, "Delete", desk.page.get_by_role("alertdialog"))


def _check_opened(desk: Desk, name: str, opened: Locator) -> None:
    """Check the page with something opened, and close that as a keyboard does."""
    expect(opened).to_be_visible()
    check(desk, name)
    desk.page.keyboard.press("Escape")
    expect(opened).to_have_count(0)


def test_no_form_or_question_about_a_file_keeps_anybody_out(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(GERMAN)
    desk.open("data").set_viewport_size(TALL)  # type: ignore[arg-type]  # its TypedDict is private
    desk.main.locator("input[type=file]").set_input_files(path)
    expect(desk.main.get_by_role("button", name="sales.csv")).to_be_visible()
    desk.main.locator("input[type=file]").set_input_files(path)
    expect(desk.main.get_by_role("alert")).to_be_visible()
    check(desk, "what becomes of a file whose name is taken")
    desk.press("Leave out")
    desk.press("sales.csv")

    desk.main.get_by_text("Correct how it was read").click()
    desk.lies_still()
    desk.press("Preview")
    desk.sees("Result:")
    check(desk, "the preview of a correction")
    desk.press("Delete")
    question = desk.page.get_by_role("dialog")
    expect(question).to_be_visible()
    check(desk, "whether to delete a file")
    question.get_by_role("button", name="Delete").click()
    desk.is_told("sales.csv was deleted.")
