"""Retention, for administrators: how long data is kept, what is deleted next, and what was."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.retention import board as retention_board
from ui.features.retention.calls import get_retention
from ui.shared import entrance

st.set_page_config(page_title="Retention · Colloquy", layout="wide")
st.title("Retention", anchor=False)
entrance.require(Permission.OPERATE)

retention_board.show(get_retention(state.client()))
