"""Agents: who there is in each domain, what for, with which tools, and for whom."""

import streamlit as st

from ui import state
from ui.features.agents import board, calls

st.set_page_config(page_title="Agents · Colloquy")
st.title("Agents", anchor=False)
st.caption(
    "Who answers in each domain. Where there is a manager, write @ and a name to ask an agent"
    " directly."
)
cursors = state.memory().agents_cursors
board.show(calls.list_agents(state.client(), cursors[-1] if cursors else None), cursors)
