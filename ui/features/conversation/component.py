"""The conversation, which the browser draws by itself: `ui/assets/conversation`."""

import streamlit as st

from ui import state
from ui.shared import assets

_component = st.components.v2.component(
    "colloquy_conversation",
    html='<div class="cq-root"></div>',
    js=assets.loader("conversation/index.js"),
    isolate_styles=False,
)


def show(path: str) -> None:
    """Put the conversation here that the API has at this path, to be read."""
    _component(key="conversation", data={"path": path, "person": state.server().user})
