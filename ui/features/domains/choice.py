"""The choice of a domain for a new chat, where there is more than one."""

import streamlit as st

from backend.schemas.domains.templates import Domain
from ui import state
from ui.features.domains import calls as domains
from ui.features.domains import state as domain_state
from ui.shared.text.markdown import plain


def show() -> Domain | None:
    """Draw the choice if there are several domains. Return the domain of the next new chat."""
    items = domains.list_domains(state.client(), archived=False)
    if len(items) < 2:
        return next(iter(items), None)
    by_id = {str(one.id): one for one in sorted(items, key=lambda one: not one.is_default)}
    with st.container(horizontal_alignment="center", gap=None):
        chosen = st.selectbox(
            "Domain",
            list(by_id),
            format_func=lambda each: by_id[each].name,
            key=domain_state.CHOSEN,
            label_visibility="collapsed",
            width=280,
        )
        if chosen and (description := by_id[chosen].description):
            st.caption(plain(description, 300), text_alignment="center")
    return by_id.get(str(chosen))
