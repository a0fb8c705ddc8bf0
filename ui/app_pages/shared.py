"""A session opened by a link: its history, read-only, without composer, actions or approvals."""

from functools import partial

import streamlit as st

from ui import navigation, state
from ui.client import ClientError
from ui.features.agents.team import of_rows
from ui.features.chat import history
from ui.features.chat.message_actions import Actions
from ui.features.links import calls
from ui.shared.entrance import end_page
from ui.shared.text.markdown import plain
from ui.shared.watch.component import keep_fresh

st.set_page_config(page_title="Shared session · Colloquy")
token, client = navigation.link_token(), state.client()
if token is None:
    st.info("This link is incomplete. Ask the person who sent it for the full link.")
    end_page()
try:
    shared = calls.open_link(client, token)
    page = history.load_window(shared, partial(calls.messages, client, token))
except ClientError as problem:
    if problem.status not in (404, 410):
        raise
    st.info(f"**{plain(problem.title)}.** {plain(problem.detail, 600)}", icon=":material/link_off:")
    end_page()

title = shared.title or "New chat"
st.set_page_config(page_title=f"{title} · Colloquy")
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.markdown(f"**{plain(title)}** :small[:gray[{plain(shared.domain, 60)}]]", width="content")
    st.badge(f"Read only · {plain(shared.owner, 60)}", icon=":material/link:", color="gray")
if not page.items:
    st.caption("This session has no messages yet.")
actions = Actions(shared.id, is_read_only=True, team=of_rows(page.items))
# The browser scrolls once to the end of what begins earlier; a short session is read from its top.
is_long = page.next_before is not None
with st.container(key="opens-at-end" if is_long else "opens-at-top"):
    history.show(page, page.items, shared, actions)
keep_fresh(shared=shared)
