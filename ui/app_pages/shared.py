"""A session opened by a link: its history, read-only, without composer, actions or approvals."""

import streamlit as st

from ui import navigation, state
from ui.client import ClientError
from ui.features.agents.team import of_rows
from ui.features.chat import history
from ui.features.chat.message_actions import Actions
from ui.features.chat.messages.blocks import to_groups
from ui.features.links import calls
from ui.shared import pager
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
    cursors = state.memory().shared_cursors.setdefault(token, [])
    after = int(cursors[-1]) if cursors else 0
    page = calls.messages(client, token, after, state.PAGE_ROWS)
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
with st.container(key=f"shared-{after}"):
    actions = Actions(shared.id, is_read_only=True, team=of_rows(page.items))
    history.draw(to_groups(page.items), shared.id, actions, folds=True)
with st.container(horizontal=True):
    following = str(page.next_after) if page.next_after is not None else None
    pager.by_cursor(cursors, following, "shared", ("Earlier messages", "Later messages"))
keep_fresh(shared=shared)
