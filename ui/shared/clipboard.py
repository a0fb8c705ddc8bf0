"""A button that copies a text in one click and shows a tick; the text is never part of the page."""

import streamlit as st

from ui.shared import assets

# A provisional accessible name, until the script sets a specific one.
_HTML = (
    '<button type="button" class="colloquy-text-button" aria-label="Copy">'
    '<span class="sign"></span><span class="said"></span></button>'
)
_component = st.components.v2.component(
    "copy", html=_HTML, js=assets.loader("copy.js"), isolate_styles=False
)


def offer(text: str, key: str, label: str, said: str = "") -> None:
    """Draw the button; `label` says what is copied, `said` is the text beside its icon."""
    data = {"text": text, "label": label, "said": said}
    _component(key=key, data=data, width="content")
