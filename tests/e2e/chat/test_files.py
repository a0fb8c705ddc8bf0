"""An analyst drops a file into the chat, asks it, corrects how it was read, and asks again."""

import re
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.e2e.desk import Desk
from tests.stack import Stack

WAITS = "[data-colloquy-waits]"
GERMAN = """Umsätze der Gruppe;;;
Stand 30.09.2026;;;
Datum;Kunde;Betrag;Nr
01.07.2026;Müller;1.234,50;0012
15.07.2026;Groß;200,25;0013
03.08.2026;Öztürk;99,00;0014
"""


def attach(desk: Desk, *paths: Path) -> None:
    """Choose files in the composer, and wait until the browser has handed them over."""
    _chooser(desk).set_input_files(paths)
    for path in paths:
        expect(desk.page.get_by_test_id("stChatInput").get_by_text(path.stem)).to_be_visible()
    # While they are on their way, Streamlit takes no message.
    expect(desk.page.get_by_test_id("stChatInputSubmitButton")).to_be_enabled()


def choose(desk: Desk, label: str, option: str) -> None:
    field = desk.main.get_by_role("combobox", name=label, exact=True)
    desk.is_at_rest()  # a list that is open closes when the page is drawn
    expect(field).to_be_enabled()
    field.focus()
    desk.lies_still()
    field.press("ArrowDown")
    desk.page.get_by_role("option", name=option, exact=True).click()
    expect(field).to_have_value(option)


def switch_to_chart(desk: Desk) -> None:
    """Open the step that gave the table, and look at it as a chart."""
    desk.unfold_steps()
    desk.step("query_source").click()
    desk.main.get_by_role("radio", name="Chart").filter(visible=True).first.click()
    expect(desk.main.get_by_test_id("stVegaLiteChart").locator("svg.marks")).to_be_visible()


def find(desk: Desk, words: str) -> None:
    """Search for words in a new tab, and open the message that has them."""
    desk.open()
    desk.is_at_rest()
    desk.page.keyboard.press("ControlOrMeta+k")
    field = desk.main.get_by_placeholder("phrase in quotes")
    field.fill(words)
    field.press("Enter")
    desk.main.locator('[class*="st-key-found-"]').first.click(position={"x": 200, "y": 50})


def report_of(desk: Desk) -> str:
    """Export the session as a page; give what it says."""
    desk.is_at_rest()  # what still grows at the end would scroll away from the menu
    desk.main.locator("[class*=st-key-export-]").get_by_role("button").first.click()
    with desk.page.expect_download() as report:
        desk.page.get_by_test_id("stPopoverBody").get_by_role("button", name="Web page").click()
    return report.value.path().read_text()


def test_a_german_file_is_asked_corrected_and_asked_again(
    demo_desk: Desk, demo_stack: Stack, tmp_path: Path
) -> None:
    desk = demo_desk
    path = tmp_path / "Umsätze 2026.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    desk.open()
    attach(desk, path)
    desk.ask("Totals by month")
    desk.sees("Attached file: Umsätze 2026.csv", "1,434.75", "99.00")
    desk.is_idle()
    chat = desk.query
    switch_to_chart(desk)

    desk.sidebar.locator(".st-key-data").get_by_role("button").click()
    desk.press("Umsätze 2026.csv")
    desk.sees(
        "Read as Windows-1252, separated by semicolons, decimal comma; two title lines skipped."
    )
    desk.main.get_by_text("Correct how it was read").click()
    desk.lies_still()  # the form has unfolded
    choose(desk, "Column", "Nr")
    choose(desk, "Read this column as", "Whole number")
    desk.press("Preview")
    desk.sees("Result:")
    desk.press("Save")
    saved = desk.page.get_by_test_id("stToast").filter(has_text="Saved.")
    expect(saved).to_be_in_viewport()
    desk.sees("Nr is read as: whole number")

    find(desk, '"totals by month"')  # the next day, by its words
    expect(desk.page).to_have_url(re.compile(re.escape(chat)))
    desk.sees("1,434.75")
    desk.ask("Total Nr by month")
    desk.sees("Total of Nr by month")
    desk.is_idle()
    assert "1,434.75" in report_of(desk)
    session_id = chat.removeprefix("?session=")
    (file,) = demo_stack.client.get("/files", params={"session_id": session_id}).json()["items"]
    details = demo_stack.client.get(f"/files/{file['id']}").json()
    assert details["corrections"]["types"] == {"Nr": "integer"}


def test_a_refused_file_says_why_and_the_text_stays(demo_desk: Desk, tmp_path: Path) -> None:
    desk = demo_desk
    path = tmp_path / "picture.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    desk.open()
    attach(desk, path)
    desk.ask("What is in it?")

    expect(desk.page.get_by_text("This is an image, which cannot be read.")).to_be_visible()
    expect(desk.composer).to_have_value("What is in it?")


@pytest.fixture
def held(demo_desk: Desk, tmp_path: Path) -> Callable[[], Route]:
    """A file was chosen and is on its way; called, it gives the upload, which arrives or not."""
    uploads: Queue[Route] = Queue()
    demo_desk.open().route("**/_stcore/upload_file/**", uploads.put)
    path = tmp_path / "sales.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    _chooser(demo_desk).set_input_files(path)
    expect(demo_desk.page.get_by_test_id("stFileChipIconSpinner")).to_be_visible()
    demo_desk.sends_by_itself()

    def first() -> Route:
        while uploads.empty():  # Playwright tells of it while its page is asked for something
            demo_desk.page.evaluate("new Promise(requestAnimationFrame)")
        return uploads.get()

    return first


def test_enter_while_a_file_is_on_its_way_sends_both_when_it_is_there(
    demo_desk: Desk, held: Callable[[], Route]
) -> None:
    desk = demo_desk
    waits = desk.page.locator(WAITS)
    desk.ask("Totals by month")
    expect(waits).to_be_visible()
    expect(desk.composer).to_have_value("Totals by month")

    held().continue_()
    desk.sees("Attached file: sales.csv", "1,434.75")
    desk.is_idle()
    expect(waits).to_have_count(0)


def test_enter_before_the_script_knows_of_the_composer_waits_for_the_file_as_well(
    demo_desk: Desk, held: Callable[[], Route]
) -> None:
    desk = demo_desk
    desk.page.evaluate("colloquyLive.sending.leave()")  # as until the page is drawn to its end
    desk.ask("Totals by month")
    expect(desk.page.locator(WAITS)).to_be_visible()

    held().continue_()
    desk.sees("Attached file: sales.csv", "1,434.75")
    desk.is_idle()


def test_a_message_waits_no_longer_when_its_words_change_or_its_file_fails(
    demo_desk: Desk, held: Callable[[], Route]
) -> None:
    desk = demo_desk
    waits = desk.page.locator(WAITS)
    desk.ask("Totals")
    expect(waits).to_have_count(1)
    desk.composer.press_sequentially(" by month")
    expect(waits).to_have_count(0)

    desk.composer.press("Enter")
    expect(waits).to_have_count(1)
    held().abort()
    expect(desk.page.get_by_test_id("stFileChipIconError")).to_be_visible()
    expect(waits).to_have_count(0)
    desk.sees("sales.csv was not uploaded")
    expect(desk.composer).to_have_value("Totals by month")
    expect(desk.page).to_have_url(f"{desk.url}/")


def _chooser(desk: Desk) -> Locator:
    return desk.page.get_by_test_id("stChatInput").locator("input[type=file]").first
