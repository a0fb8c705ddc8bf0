"""The tools that a person has allowed in a session for good, with the way to take it back."""

import streamlit as st

from backend.schemas.conversations.sessions import Session
from ui import state
from ui.client import ClientError
from ui.features.approvals.calls import ask_again, get_allowed_tools
from ui.shared import banners
from ui.shared.text.markdown import plain


@st.dialog("Allowed tools", icon=":material/verified_user:")
def show(session: Session) -> None:
    """Draw the list; what is taken back leaves it at once."""
    banners.what_happened()
    tools = get_allowed_tools(state.client(), session.id)
    if not tools:
        st.markdown("No tool is allowed for good in this session.")
        st.caption("When a call waits for you, its card offers to allow the tool for good.")
        return
    st.caption("These run without asking in this session. Remove one, and it asks again.")
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
    try:
        ask_again(state.client(), session.id, tool)
    except ClientError as problem:
        state.flash(problem)
