"""The inspector's second view: past model calls, and the exact request of one of them."""

from uuid import UUID

import streamlit as st

from backend.schemas.inspection import (
    ModelCallDetails,
    ModelCallPage,
    ModelCallSummary,
    SentMessage,
)
from ui import navigation, state
from ui.client import ClientError
from ui.features.inspector import words
from ui.features.inspector.calls import get_model_call, list_model_calls
from ui.shared import banners, pager
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

PAGE_STEPS = 25
SHOWN_MESSAGES = 40
LIST_HEIGHT = 480
USUAL = ("role", "content", "tool_calls", "tool_call_id", "name")


def show(session_id: UUID) -> None:
    """Draw the list, newest first, and beside it the chosen call."""
    before = state.memory().listed_calls.get(session_id)
    page = list_model_calls(state.client(), session_id, before, PAGE_STEPS)
    for note in page.notes:
        st.info(plain(note, 500), icon=":material/info:")
    if not page.items:
        st.caption("This session has no model calls yet, or none are kept.")
        return
    chosen = navigation.chosen_call()
    listed, details = st.columns([2, 3], gap="medium")
    with listed:
        _list(session_id, page, chosen)
    with details:
        if chosen is None:
            st.caption("Choose a call to see the exact request.")
        else:
            _details(session_id, *chosen)


def _list(session_id: UUID, page: ModelCallPage, chosen: tuple[int, int] | None) -> None:
    """Draw the list in a scrolling box, so that on a narrow page the call is not far below."""
    with st.container(height=LIST_HEIGHT, border=False):
        for call in page.items:
            _choice(call, is_chosen=chosen == (call.version, call.number))
    pager.by_position(
        state.memory().listed_calls,
        session_id,
        page.next_before,
        "calls",
        ("Older calls", "Latest calls"),
        ":material/expand_more:",
    )


def _choice(call: ModelCallSummary, *, is_chosen: bool) -> None:
    with st.container(gap=None):
        st.button(
            words.call_title(call),
            key=f"call-{call.version}-{call.number}",
            type="secondary" if is_chosen else "tertiary",
            icon=":material/error:" if call.failure else None,
            on_click=navigation.choose_call,
            args=(call.version, call.number),
        )
        st.caption(plain(words.call_words(call), 200))


def _details(session_id: UUID, version: int, number: int) -> None:
    try:
        call = get_model_call(state.client(), session_id, version, number)
    except ClientError as problem:
        banners.error(problem)
        return
    st.markdown(f"**{words.call_title(call)}** · {plain(call.agent, 60)}")
    st.caption(plain(words.call_words(call), 200))
    if call.is_proven:
        st.caption(":material/verified: Exactly what was sent: the digests match.")
    else:
        st.warning(
            "This may differ from what was sent: the digests do not match.",
            icon=":material/help:",
        )
    _rest(call)
    hidden = len(call.messages) - SHOWN_MESSAGES
    key = f"call-{session_id}-{version}-{number}"
    if hidden > 0 and key not in state.memory().expanded:
        st.button(
            f"Show the {reader.number(hidden)} earlier messages",
            key=f"all-{key}",
            type="tertiary",
            icon=":material/expand_less:",
            on_click=state.memory().expanded.add,
            args=(key,),
        )
    else:
        hidden = 0
    for place, sent in enumerate(call.messages[hidden:], hidden + 1):
        _message(sent, place, f"{key}-{place}")


def _rest(call: ModelCallDetails) -> None:
    if call.tools:
        with st.expander(f"Tools ({len(call.tools)})", type="compact"):
            long_text.code(lay_out(call.tools), f"tools-{call.version}-{call.number}", "json")
    with st.expander("Settings", type="compact"):
        st.code(lay_out(call.settings), "json", wrap_lines=True)


def _message(sent: SentMessage, place: int, key: str) -> None:
    message = sent.message
    role = str(message.get("role"))
    is_added = sent.place is None and role not in ("system", "developer")
    mark = " :orange-badge[edited or added on the way]" if is_added else ""
    who = plain(words.ROLES.get(role, role), 40)
    st.markdown(f":small[{place}. {who} · about {reader.number(sent.tokens)} tokens]{mark}")
    if text := words.content_words(message.get("content")):
        long_text.code(text, key)
    if calls := message.get("tool_calls"):
        long_text.code(lay_out(calls), f"{key}-calls", "json")
    if other := {name: value for name, value in message.items() if name not in USUAL}:
        st.caption("Sent back to its provider")
        long_text.code(lay_out(other), f"{key}-other", "json")
