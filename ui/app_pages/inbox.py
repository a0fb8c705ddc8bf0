"""Inbox: the approvals that agents ask for in all sessions, decided on this page."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.approvals import inbox as approval_inbox
from ui.features.approvals.state import EVERYONE, inbox_state

server = state.server()
st.set_page_config(page_title="Inbox · Colloquy")
st.title("Inbox", anchor=False)
if Permission.REVIEW_SESSIONS in server.permissions:
    st.toggle(
        "Include other people's sessions",
        key=EVERYONE,
        on_change=inbox_state().cursors.clear,
    )

approval_inbox.show()
