"""All sessions, for administrators: owner, status and last activity."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.sessions import table as session_table
from ui.shared import banners, entrance

st.set_page_config(page_title="All sessions · Colloquy", layout="wide")
server = state.server()
st.title("All sessions", anchor=False)
entrance.require(Permission.REVIEW_SESSIONS)

banners.all_that_apply(server)
chosen = session_table.filters()
page = session_table.load(chosen)
if page.items:
    session_table.show(page, server.user)
else:
    st.info(session_table.empty_text(chosen))
session_table.paging(page)
