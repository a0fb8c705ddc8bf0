"""The inspector of a session: what the model reads next, and what it was sent before."""

import streamlit as st

from ui import state
from ui.components import inspector_calls, inspector_pairs
from ui.components.markdown import plain

NEXT, CALLS = "What it reads next", "Model calls"
VIEWS = {NEXT: inspector_pairs.show, CALLS: inspector_calls.show}

st.set_page_config(page_title="Inspector · Colloquy", layout="wide")
st.title("Inspector", anchor=False)
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
chosen = st.segmented_control(
    "View", list(VIEWS), default=NEXT, key="inspector-view", label_visibility="collapsed"
)
VIEWS[chosen or NEXT](session_id)
