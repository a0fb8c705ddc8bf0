"""Tasks: what plans have agents work on, over all sessions, what is active first."""

import streamlit as st

from ui import state
from ui.features.plans import board as task_board
from ui.features.plans.board import EVERYONE, desk

st.set_page_config(page_title="Tasks · Colloquy")
st.title("Tasks", anchor=False)
st.caption("What agents work on for a plan, each task in a session of its own.")
if state.server().is_admin:
    st.toggle(
        "Of everyone",
        key=EVERYONE,
        help="Include other people's sessions",
        on_change=desk().clear,
    )

task_board.show()
