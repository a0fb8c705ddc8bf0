"""All calls that wait for a decision in any session; decided on the page itself."""

from datetime import UTC, datetime

import streamlit as st

from backend.schemas.approvals import Approval, ApprovalPage
from backend.schemas.people.rights import Permission
from colloquy_kit.messages.kinds import MessageStatus
from ui import navigation, state
from ui.features.approvals import card as approval_card
from ui.features.approvals.calls import list_pending
from ui.features.approvals.state import EVERYONE, inbox_state, is_ticked
from ui.features.approvals.view import all_words_hold, from_approval
from ui.shared import last_known, pager
from ui.shared.formats import reader
from ui.shared.text.markdown import plain
from ui.shared.watch import timer
from ui.shared.watch.component import keep_fresh
from ui.shared.watch.lists import PAGE_ROWS, Listed

ENDED_ROWS = 10
READ = {"view": "read"}


def show() -> None:
    """Draw the list; the page is redrawn when the set of waiting calls changes."""
    cursors = inbox_state().cursors
    everyone = is_ticked(EVERYONE) and Permission.REVIEW_SESSIONS in state.server().permissions
    listed = Listed(list="approvals", everyone=everyone, cursor=cursors[-1] if cursors else None)
    page = last_known.read(
        listed,
        list_pending,
        state.client(),
        cursor=listed.cursor,
        everyone=everyone,
        limit=PAGE_ROWS,
    )
    _board(page)
    calls = [from_approval(approval) for approval in page.items]
    if held := all_words_hold(calls, datetime.now(UTC)):
        timer.draw_again(held, "expiry")
    keep_fresh(listed, page.items)


def _board(page: ApprovalPage) -> None:
    # One container for each part, so that a removed card shifts nothing in the next part.
    with st.container():
        _ended(page)
    with st.container(gap="large"):
        for approval in page.items:
            with st.container(gap="xsmall"):
                _asked_for(approval)
                approval_card.show(from_approval(approval))
        if not page.items:
            with st.container(gap="xsmall"):
                st.markdown("Nothing is waiting for a decision.")
                st.caption("When an agent asks for approval, its request appears here.")
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(inbox_state().cursors, page.next_cursor, "inbox", ("Older", "Newer"))


def _ended(page: ApprovalPage) -> None:
    """Draw what this tab has decided, until the page is reloaded."""
    waiting = {approval.id for approval in page.items}
    ended = [held.ended for held in inbox_state().calls.values() if held.ended is not None]
    for approval in [one for one in ended if one.id not in waiting][-ENDED_ROWS:]:
        call = from_approval(approval)
        label = f"**{plain(call.name, 80)}** · {approval_card.end_words(call)}"
        icon = approval_card.end_icon(call, MessageStatus.COMPLETED) or ":material/check:"
        with st.expander(label, call.is_edited, type="step", icon=icon):
            _asked_for(approval)
            approval_card.show_end(call, str(approval.id))


def _asked_for(approval: Approval) -> None:
    """Draw where a call comes from: its session, the owner, and the message."""
    is_own = approval.owner == state.server().user
    title = f"**{plain(approval.session_title or 'New chat', 80)}**"
    if approval.parent_title is not None:
        title += f" · a task of {plain(approval.parent_title or 'New chat', 80)}"
    words = [approval.agent, *([] if is_own else [approval.owner])]
    words.append(f"asked at {reader.moment(approval.created_at)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(
            navigation.CHAT_PAGE,
            label=title,
            icon=":material/forum:",
            query_params={"session": str(approval.session_id)} | ({} if is_own else READ),
        )
        st.caption(plain(" · ".join(words)), width="content")
    st.caption(f"“{plain(approval.message, 200)}”")
