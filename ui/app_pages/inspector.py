"""The inspector of a session: what the model reads next, and what it was sent so far."""

import streamlit as st

from ui.features.inspector import model_calls as inspector_calls
from ui.features.inspector import pairs as inspector_pairs
from ui.shared.entrance import session_of_page

NEXT, CALLS = "What it reads next", "Model calls"
VIEWS = {NEXT: inspector_pairs.show, CALLS: inspector_calls.show}

st.set_page_config(page_title="Inspector · Colloquy", layout="wide")
st.title("Inspector", anchor=False)
session = session_of_page()
chosen = st.segmented_control(
    "View", list(VIEWS), default=NEXT, key="inspector-view", label_visibility="collapsed"
)
VIEWS[chosen or NEXT](session.id)
