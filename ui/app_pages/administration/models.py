"""Models, for administrators: set, test and save the model endpoint without a restart."""

from datetime import datetime

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.models import form, prices, words
from ui.features.models.calls import get_connection
from ui.shared import entrance
from ui.shared.formats.times import zone
from ui.shared.text.markdown import plain

st.set_page_config(page_title="Models · Colloquy")
st.title("Models", anchor=False)
entrance.require(Permission.MANAGE_MODELS)

connection = get_connection(state.client())
st.markdown(words.in_use(connection, datetime.now(zone(st.context.timezone))))
if connection.key_problem:
    st.error(plain(connection.key_problem, 1_000), icon=":material/key_off:")
form.show(connection)
st.caption(words.RULE)
prices.show(connection.default_model)
