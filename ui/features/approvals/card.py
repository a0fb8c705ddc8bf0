"""The card of a call that waits for approval: what the agent wants to run, and the decisions."""

from datetime import UTC, datetime

import streamlit as st

from backend.schemas.approvals import ApprovalStatus, DecisionType
from colloquy_kit.messages.kinds import MessageStatus
from ui import navigation, state
from ui.features.approvals import decision
from ui.features.approvals import form as approval_form
from ui.features.approvals.arguments import show_arguments, show_changes
from ui.features.approvals.decision import field_key
from ui.features.approvals.state import deciding
from ui.features.approvals.view import ApprovalView, expiry_words, outcome_words
from ui.shared import banners
from ui.shared.formats.times import zone
from ui.shared.text.long_text import verbatim
from ui.shared.text.markdown import plain

WRITTEN = (DecisionType.EDIT, DecisionType.REJECT, DecisionType.RESPOND)
ICONS: dict[DecisionType | None, str] = {
    DecisionType.EDIT: ":material/edit:",
    DecisionType.REJECT: ":material/block:",
    DecisionType.RESPOND: ":material/reply:",
}


def show(call: ApprovalView) -> None:
    """Draw the card; on a read-only page, without the decisions."""
    with st.container(border=True, key=f"call-{call.approval_id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/approval: **{plain(call.name, 120)}**", width="content")
            if words := expiry_words(call.expires_at, datetime.now(UTC)):
                st.caption(f":material/timer: {words}", width="content")
        st.markdown(plain(call.description, 2_000))
        show_arguments(call.arguments, f"asked-{call.approval_id}")
        if not navigation.is_read_only():
            _decisions(call)


def show_end(call: ApprovalView, key: str) -> None:
    """Draw what was asked, and how it ended."""
    if call.is_edited:
        show_changes(call, f"change-{key}")
    else:
        show_arguments(call.arguments, f"asked-{key}")
    if call.outcome is not None and call.outcome.message:
        is_answer = call.outcome.decision is DecisionType.RESPOND
        st.caption("Answer given instead" if is_answer else "Reason")
        verbatim(call.outcome.message, f"message-{key}")
    if problem := deciding(call.approval_id).problem:
        st.caption(f":material/info: {plain(problem.detail, 2_000)}")


def end_icon(call: ApprovalView, status: MessageStatus) -> str | None:
    """Return the icon of a call that does not run, or that waits for the other decisions."""
    if call.outcome is None:
        return None
    if call.outcome.outcome is ApprovalStatus.EXPIRED:
        return ":material/timer_off:"
    if call.outcome.decision in (None, DecisionType.REJECT, DecisionType.RESPOND):
        return ICONS.get(call.outcome.decision, ":material/stop_circle:")
    return ":material/schedule:" if status is MessageStatus.PENDING else None


def end_words(call: ApprovalView) -> str:
    """Return how it ended, as a label; empty while it waits."""
    if call.outcome is None:
        return ""
    now = datetime.now(zone(st.context.timezone))
    return plain(outcome_words(call.outcome, state.server().user, now))


def _decisions(call: ApprovalView) -> None:
    held = deciding(call.approval_id)
    if held.problem is not None:
        banners.error(held.problem)
    if held.kind is not None:
        approval_form.show(call, held.kind)
        return
    with st.container(horizontal=True):
        if DecisionType.APPROVE in call.allowed:
            st.button(
                "Approve",
                key=field_key(call, "approve"),
                type="primary",
                icon=":material/check:",
                on_click=decision.approve,
                args=(call,),
            )
        for kind in WRITTEN:
            if kind in call.allowed:
                st.button(
                    kind.capitalize(),
                    key=field_key(call, kind),
                    icon=ICONS[kind],
                    on_click=decision.begin,
                    args=(call, kind),
                )
    if DecisionType.APPROVE in call.allowed:
        st.checkbox(
            f"When approving, also allow {plain(call.name, 80)} for the rest of this session",
            key=field_key(call, "remember"),
            help="It will not ask again here. The session's menu lists the allowed tools. "
            "Each task of a plan is a session of its own.",
        )
