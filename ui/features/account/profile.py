"""Who one is: name, role and teams; and the way to another password."""

import streamlit as st

from backend.schemas.people.account import Account
from backend.schemas.people.rights import Role
from ui.shared.text.markdown import plain

ROLES = {
    Role.MEMBER: "Member",
    Role.REVIEWER: "Reviewer: may read the sessions of others, which is recorded",
    Role.ADMIN: "Administrator",
}


def show(account: Account) -> None:
    """Draw the account's names, role and teams."""
    st.subheader(plain(account.name, 100), anchor=False)
    st.caption(" · ".join(plain(one, 100) for one in (account.login, account.email) if one))
    st.markdown(ROLES[account.role])
    if account.teams:
        named = ", ".join(plain(team.name, 80) for team in account.teams)
        st.markdown(f"Teams: {named}")
    else:
        st.caption("You are in no team.")
    if account.has_password:
        # It leads away from Streamlit, in `ui/assets/signed_in.js`: only an answer to the browser
        # itself can replace its cookie.
        st.button("Change password", key="change-password", icon=":material/password:")
