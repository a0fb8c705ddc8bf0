"""The audit trail, for administrators: who did what, filtered and as files."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui.features.audit import board
from ui.shared import entrance

st.set_page_config(page_title="Audit · Colloquy", layout="wide")
st.title("Audit", anchor=False)
entrance.require(Permission.READ_AUDIT)
entrance.require_accounts()

st.caption("Who did what, in names and numbers. Events are never changed or deleted.")
wanted = board.filters()
page = board.load(wanted)
if page.items:
    board.show(page)
    board.files(wanted)
else:
    st.info("Nothing matches. Remove a filter to see more.")
board.paging(page)
