"""The conversation, which the browser draws by itself: `ui/assets/conversation`.

It asks the API whatever it shows, and the page's script for two things only: to go to another page,
and to open something in the panel.
"""

from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from ui import navigation, state
from ui.pages import PAGES
from ui.shared import assets

KEY = "conversation"
_component = st.components.v2.component(
    "colloquy_conversation",
    html='<div class="cq-root"></div>',
    js=assets.loader("conversation/index.js"),
    isolate_styles=False,
)


def show(
    view: Literal["link", "chat", "list", "inbox"], key: str = KEY, **data: str
) -> Mapping[str, Any]:
    """Put this part of the component here, and return what it asks of this run.

    `panel`: what to open in the panel. A page that it asks for is opened at once.
    """
    asked = _component(
        key=key,
        data={"view": view, "person": state.server().user, **data},
        on_panel_change=lambda: None,
        on_go_change=lambda: None,
    )
    if asked.get("go"):
        _go(asked["go"])
    return asked


def _go(asked: Mapping[str, Any]) -> None:
    """Go to a page, by its place in the URL, and end the run."""
    page = next((page for page in PAGES if page.url_path == asked["page"]), None)
    if page is not None:
        navigation.go(page.path, {name: str(value) for name, value in asked["query"].items()})
