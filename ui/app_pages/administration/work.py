"""Work, for administrators: running, waiting and failed turns, and the workers."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui.features.work import board as work_board
from ui.shared import entrance

st.set_page_config(page_title="Work · Colloquy", layout="wide")
st.title("Work", anchor=False)
entrance.require(Permission.SEE_WORK)

work_board.show()
