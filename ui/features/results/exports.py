"""The exports of a session: downloads that are made on demand."""

from collections.abc import Mapping
from functools import partial
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import Session
from ui import state
from ui.shared.formats import reader
from ui.shared.tables import file_name

WORKBOOK = "xlsx"  # its reader's program formats it
FORMATS = {
    "html": ("Web page, to print or save as PDF", "html", ":material/web:"),
    "markdown": ("Markdown", "md", ":material/markdown:"),
    WORKBOOK: ("All tables, as an Excel workbook", "xlsx", ":material/table_view:"),
}


def show(session: Session) -> None:
    """Draw the menu of downloads, if the session has messages."""
    if not session.message_count:
        return
    with st.popover(
        "Export", icon=":material/ios_share:", type="tertiary", key=f"export-{session.id}",
        help="Export",
    ):  # fmt: skip
        for name, (label, ending, icon) in FORMATS.items():
            st.download_button(
                label,
                partial(_load, session.id, name, reader.for_documents()),
                file_name=file_name(session.title or "Conversation", ending),
                key=f"export-{name}-{session.id}",
                icon=icon,
                type="tertiary",
                on_click="ignore",
            )
        st.caption("The active branch, from the first message on.")


def _load(session_id: UUID, name: str, written: Mapping[str, str]) -> bytes:
    path = f"sessions/{session_id}/export"
    params = {"format": name} | ({} if name == WORKBOOK else dict(written))
    return state.client().send("GET", path, params=params).content
