"""What an open page asks of Streamlit: every click is heard, and all that was drawn is told."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from backend.addresses import Address
from tests.unit.ui.open_page import PATIENCE, SCRIPT, Browser, HeldUp, page, play
from ui.server import create_app


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    create_app(Address("127.0.0.1", 8501))
    monkeypatch.setattr(Runtime, "_instance", None)
    page.heard, page.shown, page.above = [], [], 0
    page.reading = page.working = page.drawing = lambda: None
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    watcher = config.get_option("server.fileWatcherType")
    config.set_option("server.fileWatcherType", "none")
    yield path
    config.set_option("server.fileWatcherType", watcher)


def test_two_clicks_that_arrive_together_are_both_heard(script: Path):
    async def story(browser: Browser) -> None:
        browser.ask("first")
        browser.ask("second")
        await browser.until(lambda: len(page.heard) == 2)

    play(script, story)

    assert page.heard == ["first", "second"]


@pytest.mark.parametrize("is_first", [False, True], ids=["", "after a new start of the server"])
def test_a_click_that_a_run_handles_is_heard_before_the_next_run(script: Path, is_first: bool):
    reading = HeldUp()

    async def story(browser: Browser) -> None:
        if is_first:
            browser.connect()
        page.reading = reading
        browser.ask("in the run")
        await browser.until(reading.begun.is_set)
        await asyncio.sleep(0)  # the loop learns that the callbacks were called
        browser.ask("first")
        reading.goes_on.set()
        await browser.until(lambda: len(page.heard) == 2)

    play(script, story)

    assert page.heard == ["in the run", "first"]


def test_a_click_is_heard_while_a_run_shows_that_it_takes_long(script: Path):
    working = HeldUp()

    async def story(browser: Browser) -> None:
        page.working = working
        browser.ask("long")
        await browser.until(working.begun.is_set)
        browser.ask("first")
        await browser.until(lambda: page.heard == ["first"])
        working.goes_on.set()

    play(script, story)


def test_a_click_that_a_browser_sends_with_one_in_a_part_has_its_effect(script: Path):
    async def story(browser: Browser) -> None:
        browser.press_inner("in the run")
        await browser.until(lambda: len(page.heard) == 2)

    play(script, story)

    assert page.heard == ["inner", "in the run"]


def test_a_click_from_an_address_that_was_left_does_not_lead_back(script: Path):
    async def story(browser: Browser) -> None:
        browser.ask("new chat")
        await browser.until(lambda: len(browser.ends()) == 2)
        browser.ask("first")  # its address is still that of the session
        await browser.until(lambda: len(browser.ends()) == 3)
        browser.query = ""
        browser.ask("first")
        await browser.until(lambda: len(browser.ends()) == 4)

    play(script, story)

    assert page.heard == ["first", "first"]
    assert page.shown == ["one", None, None, None]


def test_a_click_that_leads_further_does_so_while_an_earlier_one_has_not_arrived(script: Path):
    reading = HeldUp()

    async def story(browser: Browser) -> None:
        page.reading = reading
        browser.ask("new chat")
        await browser.until(reading.begun.is_set)
        page.reading = lambda: None
        browser.ask("begin")
        await browser.until(lambda: len(browser.ends()) == 2)
        reading.goes_on.set()

    play(script, story)

    assert page.shown == ["one", "two"]


def test_links_and_the_browsers_own_back_lead_to_an_address_that_was_left(script: Path):
    async def story(browser: Browser) -> None:
        browser.ask("new chat")
        await browser.until(lambda: len(browser.ends()) == 2)
        browser.ask()
        await browser.until(lambda: len(browser.ends()) == 3)
        browser.ask("first")
        await browser.until(lambda: len(browser.ends()) == 4)

    play(script, story)

    assert page.shown == ["one", None, "one", "one"]


def test_a_click_in_a_part_is_heard_before_the_page_is_drawn_anew(script: Path):
    drawing = HeldUp()

    async def story(browser: Browser) -> None:
        page.drawing = drawing
        browser.ask("first")
        await browser.until(drawing.begun.is_set)
        browser.press_inner()  # waits for the run's end
        browser.ask("second")
        drawing.goes_on.set()
        await browser.until(lambda: len(page.heard) == 3)

    play(script, story)

    assert page.heard == ["first", "inner", "second"]


def test_what_a_run_has_drawn_last_is_told_before_a_part_is_drawn(script: Path):
    async def story(browser: Browser) -> list[ForwardMsg]:
        before = len(browser.told)
        drawn = threading.Event()
        page.drawing = drawn.set
        browser.ask("first")
        assert drawn.wait(PATIENCE)  # and so the event loop: nothing is told meanwhile
        for thread in threading.enumerate():
            if thread.name.startswith("ScriptRunner"):
                thread.join(PATIENCE)
        browser.press_inner()
        await browser.until(lambda: len(page.heard) == 2)
        await browser.until(lambda: len(browser.ends()) == 3)
        return browser.told[before:]

    told = play(script, story)

    assert "last words" in [msg.delta.new_element.text.body for msg in told]
    ended = [msg.script_finished for msg in told if msg.WhichOneof("type") == "script_finished"]
    assert ended == [
        ForwardMsg.FINISHED_SUCCESSFULLY,
        ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    ]


def test_a_click_in_a_part_that_moves_meanwhile_has_its_effect(script: Path):
    drawing = HeldUp()

    async def story(browser: Browser) -> None:
        page.drawing, page.above = drawing, 1
        browser.ask("first")
        await browser.until(drawing.begun.is_set)
        browser.press_inner()
        drawing.goes_on.set()
        await browser.until(lambda: "inner clicks: 1" in browser.texts())

    play(script, story)

    assert page.heard == ["first", "inner"]


def test_a_click_in_a_part_that_has_moved_has_its_effect(script: Path):
    async def story(browser: Browser) -> None:
        page.above = 1
        browser.ask("first")
        await browser.until(lambda: len(browser.ends()) == 2)
        browser.press_inner()
        await browser.until(lambda: "inner clicks: 1" in browser.texts())

    play(script, story)

    assert page.heard == ["first", "inner"]
