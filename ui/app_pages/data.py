"""Data: the sources that agents can query, how each file was read, uploads and corrections."""

import streamlit as st

from ui import state
from ui.features.data import calls, correcting, deleting, details
from ui.features.data import list as data_list
from ui.features.data import state as data_state

st.set_page_config(page_title="Data · Colloquy")
client, page_state = state.client(), data_state.data_page_state()
if file_id := data_state.open_file():
    details.show_way_back()
    file = calls.get_file(client, file_id)
    details.show_file(file)
    correcting.show(file)
    deleting.show(file)
elif name := data_state.open_source():
    details.show_way_back()
    details.show_source(calls.get_source(client, name))
else:
    st.title("Data", anchor=False)
    st.caption("Data that agents can query. Files uploaded here are available in all sessions.")
    data_list.show_upload()
    data_list.show_files(
        calls.list_files(client, page_state.cursors[-1] if page_state.cursors else None)
    )
    data_list.show_sources(calls.list_sources(client))
