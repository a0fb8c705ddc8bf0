"""Makes links to artifacts open the panel of this page: a click reruns only the panel.

The browser's part is `ui/assets/artifact_links.js`. Opened in another tab, they are normal links.
"""

from uuid import UUID

import streamlit as st

from ui import state
from ui.features.artifacts.state import Panel, close, follow, panel_of
from ui.shared import assets

KEY = "artifact-links"

_component = st.components.v2.component(
    "colloquy_artifact_links",
    html='<span class="colloquy-artifact-links" hidden></span>',
    js=assets.loader("artifact_links.js"),
    isolate_styles=False,
)


def listen(session_id: UUID, panel: Panel) -> None:
    """Put the listener here, within the panel's fragment, so that a click reruns only that."""
    _component(
        key=KEY,
        data={
            "session": str(session_id),
            "isOpen": panel.is_open,
            "openings": panel.openings,
        },
        on_asked_change=lambda: _asked(session_id),
        on_closed_change=lambda: close(panel_of(session_id)),
    )


def _asked(session_id: UUID) -> None:
    if asked := state.told_by(KEY, "asked"):
        follow(panel_of(session_id), {str(key): str(value) for key, value in asked.items()})
