"""Deletes a file, after a confirmation."""

import streamlit as st

from backend.schemas.data.files import FileDetails
from ui import state
from ui.features.data import state as data_state
from ui.shared.text.markdown import plain


def show(file: FileDetails) -> None:
    """Draw the button that opens the confirmation."""
    if st.button("Delete", key=f"delete-{file.id}", icon=":material/delete:"):
        _confirm(file)


@st.dialog("Delete file?", icon=":material/delete:")
def _confirm(file: FileDetails) -> None:
    st.markdown(f"**{plain(file.name, 120)}**")
    st.caption(
        "Agents can no longer query it, and its content is permanently deleted. Messages about it "
        "stay in their sessions."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep-file"):
            st.rerun()
        if st.button("Delete", key="delete-file", type="primary", icon=":material/delete:"):
            with state.flashing():
                state.client().delete_file(file.id)
                state.say(plain(f"{file.name} was deleted.", 600))
            data_state.show_all()
            st.rerun()
