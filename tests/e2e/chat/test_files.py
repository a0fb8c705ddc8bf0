"""An analyst drops a file into the chat, asks it, corrects how it was read, and asks again."""

import re
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.desk import Desk
from tests.stack import Stack

GERMAN = """Umsätze der Gruppe;;;
Stand 30.09.2026;;;
Datum;Kunde;Betrag;Nr
01.07.2026;Müller;1.234,50;0012
15.07.2026;Groß;200,25;0013
03.08.2026;Öztürk;99,00;0014
"""


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
    desk.shown_as("Chart").first.click()
    expect(desk.charts).to_be_visible()


def find(desk: Desk, words: str) -> None:
    """Search for words in a new tab, and open the message that has them."""
    desk.open()
    desk.is_at_rest()
    desk.page.keyboard.press("ControlOrMeta+k")
    field = desk.main.get_by_placeholder("phrase in quotes")
    field.fill(words)
    field.press("Enter")
    desk.hits.first.click(position={"x": 200, "y": 50})


def report_of(desk: Desk) -> str:
    """Export the session as a page; give what it says."""
    desk.is_at_rest()  # what still grows at the end would scroll away from the menu
    desk.press("Export")
    with desk.page.expect_download() as report:
        desk.opened("Export").get_by_role("button", name="Web page").click()
    return report.value.path().read_text()


def test_a_german_file_is_asked_corrected_and_asked_again(
    demo_desk: Desk, demo_stack: Stack, tmp_path: Path
) -> None:
    desk = demo_desk
    path = tmp_path / "Umsätze 2026.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    desk.open()
    desk.attach(path)
    desk.ask("Totals by month")
    desk.sees("Attached file: Umsätze 2026.csv", "1,434.75", "99.00")
    desk.is_idle()
    chat = desk.query
    switch_to_chart(desk)

    desk.link("Data").click()
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
    saved = desk.told.filter(has_text="Saved.")
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


@pytest.fixture
def held(demo_desk: Desk, tmp_path: Path) -> Callable[[], Route]:
    """A file was chosen and is on its way; called, it gives the upload, which arrives or not."""
    uploads: Queue[Route] = Queue()
    demo_desk.on_uploading(uploads.put)
    path = tmp_path / "sales.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    demo_desk.choose_files(path)
    expect(demo_desk.arriving).to_be_visible()

    def first() -> Route:
        while uploads.empty():  # Playwright tells of it while its page is asked for something
            demo_desk.page.evaluate("new Promise(requestAnimationFrame)")
        return uploads.get()

    return first


def test_enter_while_a_file_is_on_its_way_sends_both_when_it_is_there(
    demo_desk: Desk, held: Callable[[], Route]
) -> None:
    desk = demo_desk
    desk.ask("Totals by month")
    expect(desk.waits).to_be_visible()
    expect(desk.composer).to_have_value("Totals by month")

    held().continue_()
    desk.sees("Attached file: sales.csv", "1,434.75")
    desk.is_idle()
    expect(desk.waits).to_have_count(0)


def test_a_message_waits_no_longer_when_its_words_change_and_is_not_sent_without_a_file_that_failed(
    demo_desk: Desk, held: Callable[[], Route]
) -> None:
    desk = demo_desk
    desk.ask("Totals")
    expect(desk.waits).to_have_count(1)
    desk.composer.press_sequentially(" by month")
    expect(desk.waits).to_have_count(0)

    desk.composer.press("Enter")
    expect(desk.waits).to_have_count(1)
    held().abort()
    expect(desk.broken.first).to_be_visible()
    expect(desk.waits).to_have_count(0)
    for _ in range(2):  # also where Enter is pressed again
        desk.sees("sales.csv was not uploaded")
        expect(desk.composer).to_have_value("Totals by month")
        expect(desk.page).to_have_url(f"{desk.url}/")
        desk.composer.press("Enter")

    desk.press("Leave out")
    desk.composer.press("Enter")
    desk.is_in_a_session()
    desk.sees_not("sales.csv was not uploaded")
    expect(desk.message("Totals by month").first).to_be_visible()
    desk.is_idle()
