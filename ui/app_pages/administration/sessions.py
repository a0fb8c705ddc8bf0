"""Everyone's sessions, for reviewers: whose they are, what they used, and how they went."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.sessions import table as session_table
from ui.shared import banners, entrance

st.set_page_config(page_title="All sessions · Colloquy", layout="wide")
st.title("All sessions", anchor=False)
entrance.require(Permission.REVIEW_SESSIONS)

banners.all_that_apply(state.server())
wanted = session_table.filters()
page = session_table.load(wanted)
if page.items:
    session_table.show(page)
    session_table.elsewhere(wanted)
else:
    st.info(session_table.empty_text(wanted))
session_table.paging(page)
