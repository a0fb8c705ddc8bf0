"""A session's configuration, and how its domain has drifted since the session was made."""

import streamlit as st

from ui import state
from ui.features.domains import calls as domains
from ui.features.domains import drift_view, image_view
from ui.shared.entrance import session_of_page

st.set_page_config(page_title="Configuration · Colloquy")
st.title("Configuration", anchor=False)
session = session_of_page()
drift_view.show(session, domains.get_drift(state.client(), session.id))
st.divider()
st.subheader("Configuration of this session", anchor=False)
image_view.show(domains.get_image(state.client(), session.id), f"image-{session.id}")
