"""What the report counts: one person, team, domain or model, or all of them."""

from collections.abc import Collection, Sequence

import streamlit as st

from backend.schemas.usage import Named, UsageBy
from ui import state
from ui.features.usage.calls import Wanted, get_choices

ALL = {
    UsageBy.OWNER: "All people",
    UsageBy.TEAM: "All teams",
    UsageBy.DOMAIN: "All domains",
    UsageBy.MODEL: "All models",
}


def show(days: int, hidden: Collection[UsageBy]) -> Wanted:
    """Draw a field for each that can be chosen; return what was chosen."""
    found = get_choices(state.client(), days)
    with st.container(horizontal=True, key="usage-filters"):
        return Wanted(
            person=_field(UsageBy.OWNER, found.people, hidden),
            team=_field(UsageBy.TEAM, found.teams, hidden),
            domain=_field(UsageBy.DOMAIN, found.domains, hidden),
            model=_field(UsageBy.MODEL, found.models, hidden),
        )


def _field(by: UsageBy, choices: Sequence[Named], hidden: Collection[UsageBy]) -> str | None:
    if by in hidden:
        return None
    names = {one.key: one.name for one in choices}
    key = f"usage-of-{by}"
    # What was chosen stays on the page, also if it has no usage in the days that are chosen now.
    if (held := st.session_state.get(key)) is not None:
        names.setdefault(held, held)
    return st.selectbox(
        ALL[by],
        list(names),
        key=key,
        index=None,
        format_func=lambda one: names.get(one, one),
        placeholder=ALL[by],
        label_visibility="collapsed",
    )
