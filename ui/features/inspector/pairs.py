"""The inspector's first view: the history beside what the model reads next."""

from uuid import UUID

import streamlit as st

from backend.schemas.inspection import InspectedRow, Inspection, Pair, ReadMessage, Totals
from ui import state
from ui.features.inspector import words
from ui.features.inspector.calls import get_inspection
from ui.shared import pager
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

PAGE_ROWS = 50
BRIEF_CHARS = 280
MODEL = ":material/neurology:"  # on a narrow page the columns are stacked


def show(session_id: UUID) -> None:
    """Draw one window of the history; earlier ones on demand."""
    places = state.memory().inspected
    page = get_inspection(state.client(), session_id, places.get(session_id), PAGE_ROWS)
    _totals(page)
    for note in page.notes:
        st.info(plain(note, 500), icon=":material/info:")
    only_differing = st.toggle("Only what differs", key="inspector-differs")
    pairs = [pair for pair in page.items if not only_differing or words.differs(pair)]
    _headings()
    pager.by_position(
        places,
        session_id,
        page.next_before,
        "inspector",
        ("Earlier messages", "Latest messages"),
        ":material/expand_less:",
    )
    for pair in pairs:
        _pair(pair)
    if not pairs:
        st.caption(_nothing(page))


def _totals(page: Inspection) -> None:
    """Draw the size of the next request, with the budget if there is one."""
    totals = page.totals
    parts = [f"{reader.number(totals.system)} for the system prompt"]
    if totals.tools is not None:
        parts.append(f"{reader.number(totals.tools)} for tools")
    parts.append(
        f"{reader.number(totals.messages)} for {reader.number(totals.message_count)} messages"
    )
    total = totals.system + (totals.tools or 0) + totals.messages
    st.markdown(
        f"The next request has about **{reader.number(total)} tokens**: {', '.join(parts)}."
    )
    if totals.budget:
        st.progress(min(totals.messages / totals.budget, 1.0), text=_budget(totals))
    if page.system:
        with st.expander("System prompt, as it was last sent", type="compact"):
            st.code(page.system, None, wrap_lines=True)
    for number, added in enumerate(page.added, 1):
        with st.expander(f"Added by a policy, last time ({number})", type="compact"):
            st.code(added, None, wrap_lines=True)


def _budget(totals: Totals) -> str:
    return (
        f"{reader.number(totals.messages)} of {reader.number(totals.budget or 0)} tokens of"
        " messages; beyond that, older ones are summarised and about"
        f" {reader.number(totals.keep or 0)} are kept in full"
    )


def _headings() -> None:
    with st.container(key="inspector-head"):
        left, right = st.columns(2, gap="medium")
    left.caption("**What people see**")
    right.caption(f"{MODEL} **What the model reads next**")


def _pair(pair: Pair) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        for row in pair.shown:
            _shown(row)
        if not pair.shown:
            st.caption("Not shown to people.")
    with right:
        if pair.reads is None:
            st.caption(f"{MODEL} {words.why(pair)}")
        else:
            _read(pair.reads)


def _shown(row: InspectedRow) -> None:
    message = row.message
    tokens = f" · {reader.number(row.tokens)} tokens" if row.tokens else ""
    status = words.context_status_badge(row.context_status)
    head = f":small[{plain(words.speaker(message), 80)}{tokens}] {status}"
    st.markdown(f"{head}  \n{_brief(words.words_of(message))}")
    if used := words.call_usage(message):
        st.caption(used)


def _read(message: ReadMessage) -> None:
    who = words.ROLES.get(message.role, message.role)
    tokens = f"{reader.number(message.tokens)} tokens"
    head = f":small[{MODEL} {message.place + 1}. {plain(who, 40)} · {tokens}]"
    st.markdown(
        f"{head} {words.origin_badge(message.origin)}  \n{_brief(words.words_read(message))}"
    )
    if message.sent is not None:
        said = f"said this instead: {_brief(message.sent)}" if message.sent else "left it out."
        st.caption(f"The last request {said}")
    if message.returned:
        with st.expander("Sent back to its provider with it", type="compact"):
            long_text.code(lay_out(message.returned), f"returned-{message.id}", "json")


def _brief(text: str) -> str:
    return plain(" ".join(text[: 4 * BRIEF_CHARS].split()), BRIEF_CHARS) or "(empty)"


def _nothing(page: Inspection) -> str:
    if page.items:
        return "People and the model read the same."
    return "This session has no messages yet."
