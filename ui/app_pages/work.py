"""Work, for administrators: what runs and waits, what failed, and who does it."""

import streamlit as st

from ui import state
from ui.components import work_board

server = state.server()
st.set_page_config(page_title="Work · Colloquy", layout="wide")
st.title("Work", anchor=False)
if not server.is_admin:
    st.info("This page is for administrators. Ask one of them if you need it.")
    st.page_link(state.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    st.stop()

work_board.show()
