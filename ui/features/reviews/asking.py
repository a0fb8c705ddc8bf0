"""Asks a reviewer why they read somebody else's session, in place of the page."""

from uuid import UUID

import streamlit as st

from backend.schemas.conversations.reviews import MAX_REASON_CHARS
from ui import navigation, state
from ui.client import ReasonNeeded
from ui.features.reviews import calls
from ui.shared.text.markdown import plain

_REASON = "review-reason"


def show(problem: ReasonNeeded) -> None:
    """Draw the form; the page is drawn once a reason was given."""
    st.subheader("Read somebody else's session", anchor=False)
    st.markdown(plain(problem.detail, 500))
    with st.form("review", border=False):
        st.text_input("Reason", key=_REASON, max_chars=MAX_REASON_CHARS)
        st.form_submit_button(
            "Read it",
            key="begin-review",
            type="primary",
            icon=":material/visibility:",
            on_click=_begin,
            args=(problem.session_id,),
        )
    st.caption("For an hour from now you may read it, and change nothing in it.")
    st.page_link(navigation.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")


def _begin(session_id: UUID) -> None:
    """Begin the review; a second click with the same reason finds it begun."""
    with state.flashing():
        calls.begin(state.client(), session_id, str(st.session_state.get(_REASON) or ""))
