"""Inbox: the approvals that agents ask for in all sessions, decided on this page."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.conversation import component

st.set_page_config(page_title="Inbox · Colloquy")
st.title("Inbox", anchor=False)
may_review = Permission.REVIEW_SESSIONS in state.server().permissions
component.show("inbox", reviews="yes" if may_review else "")
