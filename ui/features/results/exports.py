"""The exports of a session: downloads that are made on demand."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import Session
from ui import state
from ui.shared.formats import reader
from ui.shared.tables import file_name

FORMATS = {
    "html": ("Web page, to print or save as PDF", "html", ":material/web:"),
    "markdown": ("Markdown", "md", ":material/markdown:"),
}
WORKBOOKS = {  # the program of their reader formats them
    "xlsx": ("Tables of answers, as an Excel workbook", False),
    "xlsx-tools": ("Tables of answers and tools, as an Excel workbook", True),
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
            params = {"format": name, **reader.for_documents()}
            _offer(session, name, label, ending, icon, params)
        for name, (label, has_tools) in WORKBOOKS.items():
            params = {"format": "xlsx", "tool_tables": str(has_tools).lower()}
            _offer(session, name, label, "xlsx", ":material/table_view:", params)
        _offer(
            session,
            "jsonl",
            "JSON Lines, to import it elsewhere, with all branches",
            "jsonl",
            ":material/data_object:",
            {"format": "jsonl"},
        )
        st.caption("Documents have the active branch, from the first message on.")


def _offer(
    session: Session, name: str, label: str, ending: str, icon: str, params: Mapping[str, str]
) -> None:
    st.download_button(
        label,
        state.later(_load, session.id, params),
        file_name=file_name(session.title or "Conversation", ending),
        key=f"export-{name}-{session.id}",
        icon=icon,
        type="tertiary",
        on_click="ignore",
    )


def _load(session_id: UUID, params: Mapping[str, str]) -> bytes:
    path = f"sessions/{session_id}/export"
    return state.client().send("GET", path, params=dict(params)).content
