"""Import: conversations of other programs, and of other installations of Colloquy."""

import streamlit as st

from ui.features.imports import board

st.set_page_config(page_title="Import · Colloquy")
st.title("Import", anchor=False)
st.caption(
    "Bring conversations from ChatGPT, Claude, Open WebUI, LibreChat, LangGraph, Chainlit, OpenAI's"
    " JSON Lines, or from another Colloquy. Nothing is stored before you have seen what is in it."
)
board.show_upload()
board.show_export()
board.show_imports()
