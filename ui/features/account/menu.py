"""The menu under the person's name: their account, and signing out."""

import streamlit as st

from backend.schemas.operations.server import ServerInfo
from ui import navigation
from ui.shared.text.markdown import plain


def show(server: ServerInfo) -> None:
    """Draw the menu, where people sign in.

    The buttons that sign out are pressed in `ui/assets/signed_in.js`: only an answer to the browser
    itself can take its cookie away.
    """
    if not server.has_accounts:
        return
    name = plain(server.name or server.user, 60)
    with st.popover(name, icon=":material/account_circle:", type="tertiary"):
        if st.button(
            "Account and API tokens", key="account", type="tertiary", icon=":material/key:"
        ):
            navigation.go(navigation.ACCOUNT_PAGE, {})
        st.button("Sign out here", key="sign-out-here", type="tertiary", icon=":material/logout:")
        st.button(
            "Sign out everywhere",
            key="sign-out-everywhere",
            type="tertiary",
            icon=":material/devices:",
        )
