"""Account: who one is, one's password, sign-ins, API tokens, and one's own usage."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui import navigation, state
from ui.features.account import profile, sign_ins
from ui.features.account.calls import get_account
from ui.features.tokens import section as tokens
from ui.features.usage import own as own_usage
from ui.shared.entrance import end_page

st.set_page_config(page_title="Account · Colloquy")
st.title("Account", anchor=False)
if not state.server().has_accounts:
    st.info("Nobody signs in here, so there are no accounts.")
    end_page()

account = get_account(state.client())
profile.show(account)
own_usage.show()
st.page_link(
    navigation.USAGE_PAGE, label="By day, domain and model", icon=":material/data_usage:",
)  # fmt: skip
sign_ins.show()
st.page_link(navigation.WEBHOOKS_PAGE, label="Webhooks", icon=":material/webhook:")
tokens.show("account", may_last=Permission.MANAGE_PEOPLE in account.permissions)
