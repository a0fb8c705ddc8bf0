"""One's own usage of today, what is left of it, and the warning when little is left."""

import streamlit as st

from backend.schemas.operations.server import ServerInfo
from ui import state
from ui.features.usage import words
from ui.features.usage.calls import get_own_usage
from ui.shared.formats import reader


def show() -> None:
    """Draw what the caller has used today, and the budgets that their turns use."""
    own = get_own_usage(state.client())
    st.subheader("Your usage today", anchor=False)
    used = f"{reader.number(own.tokens)} tokens"
    st.markdown(f"{used} · cost {words.cost(own.cost)}" if own.cost else used)
    for budget in own.budgets:
        st.progress(words.share(budget), text=words.day_budget(budget))
    renews = reader.moment(own.renews_at)
    if own.budgets:
        st.caption(f"Daily budgets renew at midnight UTC, which is {renews} where you are.")
    else:
        st.caption("No daily budget limits you.")


def warn(server: ServerInfo) -> None:
    """Say beside the composer which of today's budgets are nearly used up."""
    for budget in server.low_budgets:
        st.bottom.caption(f":material/data_usage: {words.low_budget(budget)}")
