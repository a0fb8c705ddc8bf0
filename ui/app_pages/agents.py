"""Agents: those of each domain, with their purpose, their tools and who may use them."""

import streamlit as st

from ui import state
from ui.features.agents import board, calls

st.set_page_config(page_title="Agents · Colloquy")
st.title("Agents", anchor=False)
st.caption(
    "The agents of each domain. In a domain with a manager, type @ and a name to ask an agent"
    " directly."
)
cursors = state.memory().agents_cursors
board.show(calls.list_agents(state.client(), cursors[-1] if cursors else None), cursors)
