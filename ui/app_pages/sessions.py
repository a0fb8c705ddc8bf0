"""All sessions, for administrators: who talks, what runs, when last; each opens to be read."""

import streamlit as st

from ui import state
from ui.components import banners, entrance, session_table

st.set_page_config(page_title="All sessions · Colloquy", layout="wide")
st.title("All sessions", anchor=False)
entrance.admins_only()

banners.all_that_apply(state.server())
chosen = session_table.filters()
page = session_table.load(chosen)
if page.items:
    session_table.show(page)
else:
    st.info(session_table.empty_text(chosen))
session_table.paging(page)
