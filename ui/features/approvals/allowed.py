"""The tools that a person has allowed for the rest of a session, and how to revoke that."""

import streamlit as st

from backend.schemas.conversations.sessions import Session
from ui import state
from ui.features.approvals.calls import ask_again, get_allowed_tools
from ui.shared import banners
from ui.shared.text.markdown import plain


@st.dialog("Allowed tools", icon=":material/verified_user:")
def show(session: Session) -> None:
    """Draw the list; a revoked tool disappears from it immediately."""
    banners.what_happened()
    tools = get_allowed_tools(state.client(), session.id)
    if not tools:
        st.markdown("No tools run without asking in this session.")
        st.caption("When you approve a call, you can allow its tool for the rest of the session.")
        return
    st.caption("These tools run without asking in this session. A tool that you remove asks again.")
    for tool in tools:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.markdown(f"**{plain(tool, 120)}**", width="content")
            st.button(
                "Ask again",
                key=f"ask-again-{tool}",
                icon=":material/undo:",
                on_click=_ask_again,
                args=(session, tool),
            )


def _ask_again(session: Session, tool: str) -> None:
    with state.flashing():
        ask_again(state.client(), session.id, tool)
