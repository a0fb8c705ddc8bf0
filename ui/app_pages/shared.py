"""A session opened by a link: its history, read-only, without composer, actions or approvals."""

import streamlit as st

from ui import navigation, state
from ui.client import ClientError
from ui.features.conversation import component
from ui.features.links import calls
from ui.shared.entrance import end_page

st.set_page_config(page_title="Shared session · Colloquy")
token = navigation.link_token()
if token is None:
    st.info("This link is incomplete. Ask the person who sent it for the full link.")
    end_page()
try:
    title = calls.open_link(state.client(), token).title or "New chat"
    st.set_page_config(page_title=f"{title} · Colloquy")
except ClientError as problem:
    if problem.status not in (404, 410):  # else the conversation says why
        raise
component.show("link", path=f"shared/{token}")
