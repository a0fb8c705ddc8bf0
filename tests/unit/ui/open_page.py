"""A page of Streamlit in our session, a browser that presses its buttons, and pauses between."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, RuntimeConfig, SessionClient
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

PATIENCE = 20
T = TypeVar("T")
SCRIPT = """
import streamlit as st
from tests.unit.ui.open_page import page
from ui import navigation

page.reading()
navigation.arrive(navigation.CHAT_PAGE)
page.shown.append(st.query_params.get("session"))
st.button("new chat", on_click=navigation.leave_for, args=(None,))
st.button("begin", on_click=navigation.show_session, args=("two",))
st.button("first", on_click=page.heard.append, args=("first",))
if st.button("in the run"):
    page.heard.append("in the run")
    st.rerun()
if st.button("long"):
    with st.spinner("Working…"):
        page.working()
    page.heard.append("long")
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
page = SimpleNamespace()  # the script's side of a test


class Browser(SessionClient):
    """One that presses buttons by their labels, and keeps what it was told."""

    def __init__(self, runtime: Runtime) -> None:
        self.query = "session=one"
        self.told: list[ForwardMsg] = []
        self.runtime = runtime
        self.connect()
        self.ask()

    def connect(self) -> None:
        """Begin a session that knows nothing of this page, as after a restart of the server."""
        self.session_id = self.runtime.connect_session(self, {})

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


def play(script: Path, story: Callable[[Browser], Awaitable[T]]) -> T:
    """Play a story on a page that was drawn once."""

    async def played() -> T:
        async with _opened(script) as browser:
            return await story(browser)

    return asyncio.run(played())


@asynccontextmanager
async def _opened(script: Path) -> AsyncIterator[Browser]:
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
