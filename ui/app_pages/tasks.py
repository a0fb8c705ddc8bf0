"""Tasks: the tasks of plans in all sessions, active ones first."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.plans import board as task_board
from ui.features.plans.board import EVERYONE, page_cursors

st.set_page_config(page_title="Tasks · Colloquy")
st.title("Tasks", anchor=False)
st.caption("Tasks that agents work on for a plan. Each task has its own session.")
if Permission.REVIEW_SESSIONS in state.server().permissions:
    st.toggle(
        "Include other people's sessions",
        key=EVERYONE,
        on_change=page_cursors().clear,
    )

task_board.show()
