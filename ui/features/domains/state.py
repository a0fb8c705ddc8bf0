"""What one browser tab remembers about domains: the open one, and the chosen one."""

import streamlit as st

NEW = "new"  # in place of a domain's id in the URL
CHOSEN = "chosen-domain"


def open_domain() -> str | None:
    """Return the id of the domain in the URL, or NEW; None: the list is shown."""
    return st.query_params.get("domain") or None


def show_domain(domain_id: object) -> None:
    """Put a domain into the URL; for callbacks."""
    st.query_params["domain"] = str(domain_id)


def show_all() -> None:
    """Remove the domain from the URL; for callbacks."""
    st.query_params.pop("domain", None)


def chosen() -> str | None:
    """Return the domain that the next new chat is made from; None: the default one."""
    return st.session_state.get(CHOSEN)


def version_page(key: str) -> int | None:
    """Return the version before which the shown page begins; None: it begins with the latest."""
    return st.session_state.get(key)


def show_versions_before(key: str, before: int | None) -> None:
    """Show another page of versions."""
    st.session_state[key] = before
