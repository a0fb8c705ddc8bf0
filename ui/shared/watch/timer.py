"""Redraws a page after some seconds, where it shows something that changes with time.

By the browser's clock, not a fragment that runs every few seconds: see `shared/watch/component`.
"""

import streamlit as st

from ui.shared import assets

_component = st.components.v2.component(
    "colloquy_timer",
    html="<span hidden></span>",
    js=assets.loader("timer.js"),
    isolate_styles=False,
)


def draw_again(seconds: float, key: str) -> None:
    """Redraw the page after `seconds`, or later while a dialog is open."""
    _component(key=f"timer-{key}", data={"seconds": seconds}, on_due_change=lambda: None)
