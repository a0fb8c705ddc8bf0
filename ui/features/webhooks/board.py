"""Webhooks: the list, each with its acts and deliveries; secrets are shown once."""

from uuid import UUID

import streamlit as st

from backend.schemas.webhooks import DeliveryStatus, Webhook
from ui import state
from ui.features.webhooks import calls, words
from ui.shared import pager
from ui.shared.formats import reader
from ui.shared.once import once
from ui.shared.text.markdown import plain

MADE, TESTED = "webhook-made", "webhook-tested"
OPEN, CURSORS = "webhook-open", "webhook-cursors"


def show() -> None:
    """Draw the webhooks that the person sees."""
    _secret()
    found = calls.list_webhooks(state.client()).items
    if not found:
        st.caption("There are no webhooks yet.")
    for one in found:
        with st.container(border=True, key=f"webhook-{one.id}"):
            _webhook(one)


def keep_secret(name: str, secret: str) -> None:
    """Keep a secret for the page, until it is dismissed."""
    state.memory().shown_once[MADE] = (name, secret)


def _secret() -> None:
    shown = state.memory().shown_once
    name, secret = shown.get(MADE, ("", ""))
    if secret:
        with st.container(border=True, key="webhook-secret"):
            st.markdown(
                f"**The secret of {plain(name, 80)}. Copy it now: it will not be shown again.**"
            )
            st.code(secret, None, wrap_lines=True)
            st.button("Done", key="webhook-done", on_click=shown.pop, args=(MADE, None))


def _webhook(one: Webhook) -> None:
    st.markdown(f"**{plain(one.name, 80)}** · {plain(one.url, 200)}")
    parts = [words.of_whom(one), f"set by {plain(one.set_by_name, 80)}"]
    if one.domain_id:
        parts.insert(1, f"domain {plain(one.domain or 'deleted', 80)}")
    st.caption(" · ".join(parts) + "  \n" + ", ".join(words.EVENTS[event] for event in one.events))
    if said := words.state_of(one):
        st.warning(said, icon=":material/pause_circle:" if one.paused else ":material/error:")
    if one.old_secret_until:
        st.caption(f"The secret before also signs until {reader.moment(one.old_secret_until)}.")
    if not one.can_change:
        return
    _acts(one)
    tested, verdict = st.session_state.get(TESTED, (None, ""))
    if tested == one.id:
        st.info(verdict)
    if st.session_state.get(OPEN) == one.id:
        _deliveries(one)


def _acts(one: Webhook) -> None:
    is_open = st.session_state.get(OPEN) == one.id
    acts = (
        ("Send a test", "test", ":material/send:", _test),
        ("Resume" if one.paused else "Pause", "pause",
         ":material/play_arrow:" if one.paused else ":material/pause:", _pause),
        ("New secret", "rotate", ":material/key:", _rotate),
        ("Hide deliveries" if is_open else "Deliveries", "open", ":material/list:", _open),
    )  # fmt: skip
    with st.container(horizontal=True):
        for label, key, icon, act in acts:
            st.button(label, key=f"webhook-{key}-{one.id}", icon=icon, on_click=act, args=(one,))
        if st.button("Delete", key=f"webhook-delete-{one.id}", icon=":material/delete:"):
            _confirm(one)


def _deliveries(one: Webhook) -> None:
    cursors: list[str] = st.session_state.setdefault(CURSORS, [])
    page = calls.deliveries(state.client(), one.id, cursors[-1] if cursors else None)
    if not page.items:
        st.caption("Nothing was sent yet. Deliveries are listed for seven days.")
    for delivery in page.items:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.markdown(words.delivery(delivery), width="content")
            is_waiting = delivery.status is DeliveryStatus.PENDING
            if one.paused is None:
                st.button(
                    "Send now" if is_waiting else "Send again",
                    key=f"webhook-retry-{delivery.id}", icon=":material/replay:",
                    on_click=_retry, args=(one, delivery.id),
                )  # fmt: skip
    with st.container(horizontal=True):
        pager.by_cursor(cursors, page.next_cursor, "webhook-page", ("Newer", "Older"))


@st.dialog("Delete this webhook?", icon=":material/delete:")
def _confirm(one: Webhook) -> None:
    st.markdown(f"**{plain(one.name, 80)}** is told nothing more, and its deliveries are deleted.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="webhook-keep"):
            st.rerun()
        if st.button("Delete", key="webhook-delete", type="primary", icon=":material/delete:"):
            with state.flashing():
                calls.delete_webhook(state.client(), one.id)
                state.say(f"The webhook {plain(one.name, 80)} was deleted.")
            st.rerun()


def _test(one: Webhook) -> None:
    with state.flashing(), st.spinner("Waiting for its answer…"):
        found = calls.test(state.client(), one.id)
        st.session_state[TESTED] = (one.id, words.tested(found))


def _pause(one: Webhook) -> None:
    with state.flashing():
        calls.pause(state.client(), one.id, is_paused=one.paused is None)


def _rotate(one: Webhook) -> None:
    with state.flashing():
        # Clicked twice, the first secret would have been replaced unseen.
        made = once(("rotate", one.id, one.old_secret_until), calls.rotate, state.client(), one.id)
        keep_secret(one.name, made.secret)


def _open(one: Webhook) -> None:
    is_open = st.session_state.get(OPEN) == one.id
    st.session_state[OPEN] = None if is_open else one.id
    st.session_state[CURSORS] = []


def _retry(one: Webhook, delivery_id: UUID) -> None:
    with state.flashing():
        calls.retry(state.client(), one.id, delivery_id)
        state.say("It is sent again.")
