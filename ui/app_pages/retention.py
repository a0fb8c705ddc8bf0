"""Retention, for administrators: what is kept for how long, what goes next, what has gone."""

import streamlit as st

from ui import state
from ui.calls.retention import get_retention
from ui.components import retention_board

server = state.server()
st.set_page_config(page_title="Retention · Colloquy", layout="wide")
st.title("Retention", anchor=False)
if not server.is_admin:
    st.info("This page is for administrators. Ask one of them if you need it.")
    st.page_link(state.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    st.stop()

retention_board.show(get_retention(state.client()))
