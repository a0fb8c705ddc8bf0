"""People and service accounts, for administrators: invited, changed, switched off."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.people import adding, person, table
from ui.features.people.calls import list_teams
from ui.shared import entrance

st.set_page_config(page_title="People · Colloquy", layout="wide")
st.title("People", anchor=False)
entrance.require(Permission.MANAGE_PEOPLE)
entrance.require_accounts()

adding.buttons()
is_adding = adding.is_open()
q = table.search()
page = table.load(q)
teams = {team.id: team.name for team in list_teams(state.client())}
if page.items:
    chosen = table.show(page, teams)
    if chosen is not None and not is_adding:
        person.open_dialog(chosen)
    else:
        person.closed()
else:
    st.info("Nobody matches. Change the search." if q else "Nobody is here yet. Invite somebody.")
table.paging(page)
