"""What one person may see: their sessions, domains, sources and grants, and what is withheld."""

from collections.abc import Sequence

import streamlit as st

from backend.schemas.people.grants import Reach
from ui import state
from ui.features.grants import calls
from ui.features.grants.resource import KINDS
from ui.shared.formats import reader
from ui.shared.text.markdown import plain


def show() -> None:
    """Draw the choice of a person, and what they may see."""
    client = state.client()
    q = st.text_input("Find a person", key="reach-find", placeholder="A part of a name")
    names = {one.id: one.name for one in calls.people(client, q)}
    chosen = st.selectbox("Person", list(names), format_func=names.__getitem__, key="reach-of")
    if chosen is None:
        st.info("Nobody has such a name.")
        return
    _draw(calls.reach(client, chosen))


def _draw(reach: Reach) -> None:
    teams = _listed([team.name for team in reach.teams]) or "none"
    st.markdown(f"**{plain(reach.name, 80)}** · role {reach.role} · teams: {teams}")
    own, team, shared = (
        reader.number(count)
        for count in (reach.sessions.own, reach.sessions.of_teams, reach.sessions.shared)
    )
    st.markdown(f"Sessions: {own} own, {team} of teams, {shared} shared")
    st.markdown(f"Domains: {_listed([domain.name for domain in reach.domains]) or 'none'}")
    st.markdown(f"Sources: {_listed(reach.sources) or 'none'}")
    st.subheader("Granted", anchor=False)
    for grant in reach.grants:
        kind, by = KINDS[grant.resource_type], plain(grant.principal_name, 80)
        st.markdown(f"- {kind} {plain(grant.resource_id, 80)}: {grant.right}, as {by}")
    if not reach.grants:
        st.caption("Nothing was granted to them.")
    st.subheader("Withheld", anchor=False)
    for one in reach.withheld:
        st.markdown(f"- {KINDS[one.resource_type]} {plain(one.resource_id, 80)}")
    if not reach.withheld:
        st.caption("Nothing is withheld from them.")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(plain(name, 80) for name in names)
