"""The quiet line above an answer: which agent gave it, and why that one had the turn."""

import streamlit as st

from backend.schemas.conversations.turns import Route
from ui.features.agents import route_words
from ui.shared.text.markdown import plain


def show(agent: str, route: Route | None, manager: str | None) -> None:
    """Draw the name; the reason in a word or two, and as a sentence in its tooltip."""
    why = route_words.short(route, manager)
    line = f"**{plain(agent, 80)}**" + (f" · {plain(why, 90)}" if why else "")
    said = plain(route_words.sentence(route, agent, manager), 600) if route and why else None
    st.caption(line, help=said)
