"""The choice of whose a new chat is, where the person has teams."""

import streamlit as st

from ui import state
from ui.features.sharing import calls
from ui.shared import last_known

KEY = "new-chat-team"
OWN = ""


def show() -> None:
    """Draw the choice between oneself and one's teams; nothing where there are no accounts."""
    server = state.server()
    if not server.has_accounts:
        return
    names = {team.id: team.name for team in last_known.read("teams", calls.teams, state.client())}
    if names:
        st.selectbox(
            "Whose chat it is",
            [OWN, *names],
            format_func=lambda team: f"Team {names[team]}" if team else "Only me",
            key=KEY,
            label_visibility="collapsed",
            width=280,
        )


def chosen() -> str | None:
    """Return the team of the next new chat; None: it is the person's own."""
    return st.session_state.get(KEY) or None
