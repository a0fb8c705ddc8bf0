"""What the page of a cleared session says, and the way back to what was said before."""

from functools import partial
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import MessagePage, Session
from ui import navigation, state
from ui.features.chat import calls
from ui.shared import last_known


def show(session: Session, rows: MessagePage, *, is_busy: bool) -> None:
    """Draw that the session was cleared, until something is said in it again."""
    if session.branch is None or rows.items or is_busy:
        return
    read = partial(calls.branches, state.client(), session.id)
    left = last_known.read(("branches", session.id), read).left
    if left is None:
        return
    with st.container(key="cleared", horizontal_alignment="center", gap="small"):
        st.caption(
            "This session was cleared: the agent starts anew. The earlier messages are kept, as are"
            " files and artifacts.",
            text_alignment="center",
        )
        if not navigation.is_read_only():
            st.button(
                "Show the earlier messages",
                key="show-earlier-branch",
                type="tertiary",
                icon=":material/undo:",
                on_click=_go_back,
                args=(session.id, left),
            )


def _go_back(session_id: UUID, branch: int) -> None:
    with state.flashing():
        calls.show_branch(state.client(), session_id, branch)
    navigation.show_latest(session_id)
