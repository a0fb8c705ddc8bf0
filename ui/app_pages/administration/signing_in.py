"""Signing in, for administrators: what AUTH allows, and the providers that people sign in with."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import state
from ui.features.people.calls import list_teams
from ui.features.signing_in import board, calls, form, words
from ui.shared import entrance

st.set_page_config(page_title="Signing in · Colloquy")
st.title("Signing in", anchor=False)
entrance.require(Permission.MANAGE_PEOPLE)
entrance.require_accounts()

client = state.client()
providers = calls.list_providers(client)
st.markdown(words.allowed(calls.list_ways(client).items))
if not providers.is_on:
    st.info(words.OFF)
provider = board.choose(providers)
form.show(providers, provider)
st.caption(words.RULE)
if provider is not None:
    board.groups(provider, {team.id: team.name for team in list_teams(client)})
