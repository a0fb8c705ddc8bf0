"""A session's configuration: what it was made with, and how its domain has drifted since."""

import streamlit as st

from ui import state
from ui.calls import domains
from ui.components import drift_view, image_view
from ui.components.markdown import plain

st.set_page_config(page_title="Configuration · Colloquy")
st.title("Configuration", anchor=False)
session_id = state.open_session_id()
if session_id is None:
    st.info("Open a session first; its head leads here.")
    st.page_link(state.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    st.stop()

session = state.client().session(session_id)
st.page_link(
    state.CHAT_PAGE,
    label=plain(session.title or "New chat", 80),
    icon=":material/arrow_back:",
    query_params=state.session_query(session_id),
)
drift_view.show(session, domains.get_drift(state.client(), session_id))
st.divider()
st.subheader("What this session was made with", anchor=False)
image_view.show(domains.get_image(state.client(), session_id), f"image-{session_id}")
