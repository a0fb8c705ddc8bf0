"""The small line above an answer: the agent that gave it, and why the turn was routed to it."""

import streamlit as st

from backend.schemas.conversations.turns import Route
from ui.features.agents import route_words
from ui.shared.text.markdown import plain


def show(agent: str, route: Route | None, manager: str | None) -> None:
    """Draw the name with the reason: brief beside it, and as a sentence in its tooltip."""
    why = route_words.short(route, manager)
    line = f"**{plain(agent, 80)}**" + (f" · {plain(why, 90)}" if why else "")
    sentence = plain(route_words.sentence(route, agent, manager), 600) if route and why else None
    st.caption(line, help=sentence)
