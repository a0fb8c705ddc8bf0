"""Texts that go back into their input: what could not be sent, or what is to be written anew.

Streamlit tells a browser once what an input is to hold, and a run that follows at once takes that
back unseen. So the text is told with each run, and the browser takes it once.
"""

from uuid import uuid4

import streamlit as st

from ui import state
from ui.shared import assets

_component = st.components.v2.component(
    "colloquy_unsent",
    html="<span hidden></span>",
    js=assets.loader("drafts.js", "mount"),
    isolate_styles=False,
)


def keep(key: str, text: str) -> None:
    """Keep a text for the input with this key."""
    state.memory().unsent[key] = state.Unsent(uuid4().hex, text)


def forget(key: str) -> None:
    """Keep nothing for this input any more: its text was sent or given up."""
    state.memory().unsent.pop(key, None)


def restore(key: str) -> None:
    """Have the browser put what is kept for this input into it, where that is empty."""
    if kept := state.memory().unsent.get(key):
        data = {"input": key, "id": kept.id, "text": kept.text}
        _component(key=f"unsent-{key}", data=data)
