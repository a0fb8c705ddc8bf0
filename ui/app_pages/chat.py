"""The chat page: the open session's history, its latest turn as it runs, and the composer."""

import streamlit as st

from backend.schemas.people.rights import SessionRights
from ui import navigation, state
from ui.features.agents import team
from ui.features.artifacts import panel as artifact_panel
from ui.features.chat import (
    cleared,
    composer,
    history,
    latest_turn,
    message_actions,
    model_choice,
    opening,
    reading,
)
from ui.features.chat import header as chat_header
from ui.features.chat.latest_turn import Latest
from ui.features.chat.live import component
from ui.features.chat.messages.blocks import split_current
from ui.features.plans import parent as plan_parent
from ui.features.usage import own as own_usage
from ui.shared import banners
from ui.shared.areas import area
from ui.shared.entrance import end_page
from ui.shared.watch.component import keep_fresh

session_id = navigation.open_session_id()
server = state.server()

# The composer is drawn first on either page, so that one replaces the other without a gap.
if session_id is None:
    above = composer.show(None, active=None)
    own_usage.warn(server)
    with area("page", "opening"):
        banners.all_that_apply(server)
        with st.container(key="opening"):
            domain = opening.show(server)
        model_choice.show_for_domain(above, domain, server)
        component.show(None, team.of_domain(domain))
        keep_fresh()
    end_page()

session = reading.session(session_id)
state.memory().opened = session
turns = reading.turns(session_id)
rows = history.load(session)
is_latest = navigation.window(session_id).is_latest
last = turns[0].id if turns else next((row.turn_id for row in reversed(rows.items)), None)
settled, current = split_current(rows.items, last if is_latest else None)
actions = message_actions.load(session, turns[0] if turns else None)
actions = message_actions.with_figures(actions, session, rows.items)

if session.rights is SessionRights.READ and not navigation.asks_to_read():
    composer.show_reading_only(session)
elif not navigation.is_read_only() and session.parent_id is None:
    above = composer.show(session_id, turns[0] if turns else None)
    model_choice.show_for_session(above, session, server)
    own_usage.warn(server)
history_comes_last = history.comes_last(session_id, settled)
with area("page", session_id):
    plan_parent.show(session)
    chat_header.show(session, server)
    earlier = st.container()
    room = st.empty()
    if history_comes_last:
        room.space(history.ROOM)
    else:
        with earlier:
            history.show(rows, settled, session, actions)
    banners.all_that_apply(server)
    if is_latest:
        latest_turn.show(session, Latest(turns, current, rows.items), actions)
    cleared.show(session, rows, is_busy=bool(turns))
    artifact_panel.show(session_id, session.parent_id)
    keep_fresh()
    if history_comes_last:
        with earlier:
            history.show(rows, settled, session, actions)
        room.empty()
