"""What an open page asks of Streamlit: every click is heard, and all that was drawn is told."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig, SessionClient
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from backend.addresses import Address
from ui.server import create_app

PATIENCE = 20
SCRIPT = """
import streamlit as st
from tests.unit.ui.test_page_session import page
from ui import navigation

navigation.arrive(navigation.CHAT_PAGE)
page.reading()
page.shown.append(st.query_params.get("session"))
st.button("new chat", on_click=navigation.leave_for, args=(None,))
st.button("first", on_click=page.heard.append, args=("first",))
if st.button("in the run"):
    page.heard.append("in the run")
    st.rerun()
st.button("second", on_click=page.heard.append, args=("second",))

@st.fragment
def part():
    st.button("inner", on_click=page.heard.append, args=("inner",), key="inner")
    st.text(f"inner clicks: {page.heard.count('inner')}")

for _ in range(page.above):  # what moves the part
    st.text("above")
part()
page.drawing()
st.text("last words")
"""
# The script's side of a test.
page = SimpleNamespace(heard=[], shown=[], reading=lambda: None, drawing=lambda: None, above=0)


class Browser(SessionClient):
    """One that presses buttons by their labels, and keeps what it was told."""

    def __init__(self, runtime: Runtime) -> None:
        self.query = "session=one"
        self.told: list[ForwardMsg] = []
        self.runtime = runtime
        self.session_id = runtime.connect_session(self, {})
        self.ask()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        self.told.append(msg)

    def ask(self, *pressed: str, fragment_id: str = "") -> None:
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.fragment_id = fragment_id
        asked.rerun_script.page_script_hash = self.shown()
        for label in pressed:
            asked.rerun_script.widget_states.widgets.add(
                id=self.button(label).id, trigger_value=True
            )
        self.runtime.handle_backmsg(self.session_id, asked)

    def press_inner(self, *also: str) -> None:
        """Press the button in the part, where it was drawn first."""
        first = next(msg.delta.fragment_id for msg in self.told if msg.delta.fragment_id)
        self.ask("inner", *also, fragment_id=first)

    def button(self, label: str):
        elements = (msg.delta.new_element for msg in self.told)
        return next(one.button for one in elements if one.button.label == label)

    def shown(self) -> str:
        """The page that the last run has drawn, by Streamlit's name for it."""
        runs = [msg.new_session for msg in self.told if msg.WhichOneof("type") == "new_session"]
        return runs[-1].page_script_hash if runs else ""

    def texts(self) -> list[str]:
        return [msg.delta.new_element.text.body for msg in self.told]

    def ends(self) -> list[int]:
        return [
            one.script_finished for one in self.told if one.WhichOneof("type") == "script_finished"
        ]

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                await asyncio.sleep(0.01)


class HeldUp:
    """What waits in the middle of a run."""

    def __init__(self) -> None:
        self.begun, self.goes_on = threading.Event(), threading.Event()

    def __call__(self) -> None:
        """Wait until the test goes on."""
        self.begun.set()
        assert self.goes_on.wait(PATIENCE)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    create_app(Address("127.0.0.1", 8501))
    monkeypatch.setattr(Runtime, "_instance", None)
    monkeypatch.setattr(page, "heard", [])
    monkeypatch.setattr(page, "shown", [])
    monkeypatch.setattr(page, "reading", lambda: None)
    monkeypatch.setattr(page, "drawing", lambda: None)
    monkeypatch.setattr(page, "above", 0)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    watcher = config.get_option("server.fileWatcherType")
    config.set_option("server.fileWatcherType", "none")
    yield path
    config.set_option("server.fileWatcherType", watcher)


@asynccontextmanager
async def opened(script: Path) -> AsyncIterator[Browser]:
    """A page that was drawn once."""
    runtime = Runtime(
        RuntimeConfig(
            str(script),
            media_file_storage=MemoryMediaFileStorage("/media"),
            uploaded_file_manager=MemoryUploadedFileManager("/upload"),
        )
    )
    await runtime.start()
    try:
        browser = Browser(runtime)
        await browser.until(lambda: len(browser.ends()) == 1)
        yield browser
    finally:
        runtime.stop()
        await runtime.stopped


def test_two_clicks_that_arrive_together_are_both_heard(script: Path):
    async def story() -> None:
        async with opened(script) as browser:
            browser.ask("first")
            browser.ask("second")
            await browser.until(lambda: len(page.heard) == 2)

    asyncio.run(story())

    assert page.heard == ["first", "second"]


def test_a_click_that_a_run_handles_is_heard_before_the_next_run(script: Path):
    reading = HeldUp()

    async def story() -> None:
        async with opened(script) as browser:
            page.reading = reading
            browser.ask("in the run")
            await browser.until(reading.begun.is_set)
            await asyncio.sleep(0)  # the loop learns that the callbacks were called
            browser.ask("first")
            reading.goes_on.set()
            await browser.until(lambda: len(page.heard) == 2)

    asyncio.run(story())

    assert page.heard == ["in the run", "first"]


def test_a_click_that_a_browser_sends_with_one_in_a_part_has_its_effect(script: Path):
    async def story() -> None:
        async with opened(script) as browser:
            browser.press_inner("in the run")
            await browser.until(lambda: len(page.heard) == 2)

    asyncio.run(story())

    assert page.heard == ["inner", "in the run"]


def test_a_click_from_an_address_that_was_left_does_not_lead_back(script: Path):
    async def story() -> None:
        async with opened(script) as browser:
            browser.ask("new chat")
            await browser.until(lambda: len(browser.ends()) == 2)
            browser.ask("first")  # its address is still that of the session
            await browser.until(lambda: len(browser.ends()) == 3)
            browser.query = ""
            browser.ask("first")
            await browser.until(lambda: len(browser.ends()) == 4)

    asyncio.run(story())

    assert page.heard == ["first", "first"]
    assert page.shown == ["one", None, None, None]


def test_links_and_the_browsers_own_back_lead_to_an_address_that_was_left(script: Path):
    async def story() -> None:
        async with opened(script) as browser:
            browser.ask("new chat")
            await browser.until(lambda: len(browser.ends()) == 2)
            browser.ask()
            await browser.until(lambda: len(browser.ends()) == 3)
            browser.ask("first")
            await browser.until(lambda: len(browser.ends()) == 4)

    asyncio.run(story())

    assert page.shown == ["one", None, "one", "one"]


def test_a_click_in_a_part_is_heard_before_the_page_is_drawn_anew(script: Path):
    drawing = HeldUp()

    async def story() -> None:
        async with opened(script) as browser:
            page.drawing = drawing
            browser.ask("first")
            await browser.until(drawing.begun.is_set)
            browser.press_inner()  # waits for the run's end
            browser.ask("second")
            drawing.goes_on.set()
            await browser.until(lambda: len(page.heard) == 3)

    asyncio.run(story())

    assert page.heard == ["first", "inner", "second"]


def test_what_a_run_has_drawn_last_is_told_before_a_part_is_drawn(script: Path):
    async def story() -> list[ForwardMsg]:
        async with opened(script) as browser:
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

    told = asyncio.run(story())

    assert "last words" in [msg.delta.new_element.text.body for msg in told]
    ended = [msg.script_finished for msg in told if msg.WhichOneof("type") == "script_finished"]
    assert ended == [
        ForwardMsg.FINISHED_SUCCESSFULLY,
        ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    ]


def test_a_click_in_a_part_that_moves_meanwhile_has_its_effect(script: Path):
    drawing = HeldUp()

    async def story() -> None:
        async with opened(script) as browser:
            page.drawing, page.above = drawing, 1
            browser.ask("first")
            await browser.until(drawing.begun.is_set)
            browser.press_inner()
            drawing.goes_on.set()
            await browser.until(lambda: "inner clicks: 1" in browser.texts())

    asyncio.run(story())

    assert page.heard == ["first", "inner"]


def test_a_click_in_a_part_that_has_moved_has_its_effect(script: Path):
    async def story() -> None:
        async with opened(script) as browser:
            page.above = 1
            browser.ask("first")
            await browser.until(lambda: len(browser.ends()) == 2)
            browser.press_inner()
            await browser.until(lambda: "inner clicks: 1" in browser.texts())

    asyncio.run(story())

    assert page.heard == ["first", "inner"]
