"""The panel beside the chat: artifacts with their versions, tables to work on, one's own queries.

A fragment: clicks here leave the conversation unchanged.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import streamlit as st

from backend.markdown.cells import ARTIFACT
from ui.client import ClientError
from ui.features.artifacts import panel as artifacts
from ui.features.artifacts.state import LISTED, QUERY, TABLE, Panel, panel_of_tab
from ui.features.results import own_query, view
from ui.features.results.origins import Stored
from ui.shared import assets, banners

KEY = "side-panel"
_component = st.components.v2.component(
    "colloquy_panel",
    html='<span class="colloquy-panel" hidden></span>',
    js=assets.loader("panel.js"),
    isolate_styles=False,
)


def show(asked: Mapping[str, Any] | None) -> None:
    """Draw the panel if it is open; `asked`: what the conversation has just asked to open."""
    if asked:
        panel_of_tab().take(asked)
    _draw()


@st.fragment
def _draw() -> None:
    panel = panel_of_tab()
    if panel.kind not in KINDS or panel.session_id is None:
        st.empty()  # otherwise what a fragment no longer draws may stay
        return
    with st.container(key=KEY, gap="small"):
        _component(key="panel", data={"openings": panel.openings})
        try:
            KINDS[panel.kind](panel, panel.session_id)
        except ClientError as problem:
            artifacts.head(panel, "Artifacts" if panel.kind in (ARTIFACT, LISTED) else "Table")
            banners.error(problem)


def _table(panel: Panel, session_id: UUID) -> None:
    message, number = UUID(str(panel.asked["message"])), int(panel.asked.get("number") or 1)
    origin = Stored(f"sessions/{session_id}/messages/{message}/tables/{number}")
    table = origin.whole()
    artifacts.head(panel, str(table.get("title") or "Table"), ":material/table:")
    view.show(table, origin, f"panel-{message}-{number}")


def _query(panel: Panel, session_id: UUID) -> None:
    call = UUID(str(panel.asked["message"]))
    artifacts.head(panel, "Your own query", ":material/edit_note:")
    source, sql = (str(panel.asked.get(name) or "") for name in ("source", "sql"))
    own_query.show(session_id, source, sql, call, f"panel-{call}")


KINDS: Mapping[str, Callable[[Panel, UUID], None]] = {
    ARTIFACT: artifacts.show_artifact,
    LISTED: artifacts.show_list,
    TABLE: _table,
    QUERY: _query,
}
