"""Search in messages: find messages in any session, with links to them."""

import streamlit as st

from ui import navigation, state
from ui.features.search import form, results
from ui.shared import banners

server = state.server()
session_id = navigation.open_session_id()
session = state.client().session(session_id) if session_id else None
st.set_page_config(page_title="Search · Colloquy")
st.title("Search in messages", anchor=False)

banners.all_that_apply(server)
results.show(form.show(server, session))
