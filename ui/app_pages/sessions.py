"""All sessions, for administrators: who talks, what runs, when last; each opens to be read."""

import streamlit as st

from ui import state
from ui.components import banners, session_table

server = state.server()
st.set_page_config(page_title="All sessions · Colloquy", layout="wide")
st.title("All sessions", anchor=False)
if not server.is_admin:
    st.info("This page is for administrators. Ask one of them if you need it.")
    st.page_link(state.CHAT_PAGE, label="Back to your chats", icon=":material/arrow_back:")
    st.stop()

banners.all_that_apply(server)
chosen = session_table.filters()
page = session_table.load(chosen)
if page.items:
    session_table.show(page)
else:
    st.info(session_table.empty_text(chosen))
session_table.paging(page)
