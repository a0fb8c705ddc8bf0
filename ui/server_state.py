"""The domain whose tool servers a tab shows, named in the URL so that links can point to it."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

CHOSEN = "servers-domain"


def restore_choice(known: Sequence[UUID]) -> None:
    """Set the choice, which is about to be drawn, to the domain in the URL, else to the first."""
    named = st.query_params.get("domain", "")
    by_text = {str(domain_id): domain_id for domain_id in known}
    st.session_state[CHOSEN] = by_text.get(named, known[0])


def keep_choice() -> None:
    """Put the choice into the URL; for callbacks."""
    st.query_params["domain"] = str(st.session_state[CHOSEN])
