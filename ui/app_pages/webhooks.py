"""Webhooks: where the events of sessions are sent, and what became of them."""

import streamlit as st

from ui.features.webhooks import board, form

st.set_page_config(page_title="Webhooks · Colloquy")
st.title("Webhooks", anchor=False)
st.caption(
    "Another program is told by signed requests what happens in sessions. What is sent, how to"
    " verify it and what is guaranteed is in `docs/webhooks.md`."
)
form.show()
board.show()
