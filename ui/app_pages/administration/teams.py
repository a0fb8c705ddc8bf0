"""Teams and their members, for administrators."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.people import teams
from ui.features.people.calls import list_teams
from ui.shared import entrance

st.set_page_config(page_title="Teams · Colloquy")
st.title("Teams", anchor=False)
entrance.require(Permission.MANAGE_PEOPLE)
entrance.require_accounts()

st.caption("Sessions can belong to a team, and rights can be granted to one.")
teams.add_form()
found = list_teams(state.client())
if found:
    teams.show(found)
else:
    st.info("There are no teams yet. Create one above.")
