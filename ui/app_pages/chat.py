"""The chat page: the open session's history, its active turn as it comes, and the composer."""

from pathlib import Path

import streamlit as st

from ui import state
from ui.features.chat import composer, history, live, message_actions, opening
from ui.features.chat import header as chat_header
from ui.features.chat.blocks import split_current
from ui.shared import banners, watch
from ui.shared.areas import area

session_id = state.open_session_id()
server = state.server()
st.html(Path(__file__).parent.parent / "assets" / "chat.css")

# The composer comes first on either page: one takes the other's place at once.
if session_id is None:
    composer.show(None, active=None)
    with area("page", "opening"):
        banners.all_that_apply(server)
        opening.show(server)
        watch.keep_fresh()
    st.stop()

session = state.client().session(session_id)
turns = state.client().turns(session_id).items
rows = history.load(session)
active = turns[0] if turns else None
followed = active if state.window(session_id).is_latest else None
settled, current = split_current(rows.items, followed.id if followed else None)

if not state.is_read_only():
    composer.show(session_id, active)
with area("page", session_id):
    chat_header.show(session, server)
    history.show(rows, settled, session, message_actions.load(session, active))
    banners.all_that_apply(server)
    turn_area = area("turn", followed.id if followed else None)
    queue_area = area("queue", [turn.id for turn in turns])
    if followed is None:
        with turn_area:
            composer.offer_retry(rows.items)
            watch.keep_fresh()
    else:
        with queue_area:
            composer.show_queue(turns[1:])
        with turn_area:
            live.follow(followed, current, turns[1:])
