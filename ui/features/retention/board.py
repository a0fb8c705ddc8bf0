"""Retention: the rules in words, what is deleted next, and past runs."""

from typing import Any

import streamlit as st

from backend.schemas.retention import Reason, Retention, RetentionRules
from ui import state
from ui.features.retention.calls import apply_retention
from ui.shared.formats import reader
from ui.shared.formats.times import zone

REASONS = {
    Reason.AGE: "unused for too long",
    Reason.NUMBER: "over the limit per person",
    Reason.STORAGE: "over the storage limit",
}


def show(retention: Retention) -> None:
    """Draw the page."""
    for sentence in rule_words(retention.rules):
        st.markdown(sentence)
    st.caption(
        "Set by RETENTION_DAYS, RETENTION_SESSIONS, RETENTION_MEGABYTES and RETENTION_HOURS in the"
        " settings, and by the retention days of each domain."
    )
    st.subheader("Deleted next", anchor=False)
    if not retention.planned:
        st.caption("Nothing is due for deletion.")
    else:
        _departing(retention)
    st.subheader("Past runs", anchor=False)
    _runs(retention)


def rule_words(rules: RetentionRules) -> list[str]:
    """Return the rules as sentences, including those that are off."""
    days = (
        f"deleted after **{reader.counted(rules.days, 'day')}** without use"
        if rules.days
        else "kept forever"
    )
    number, size, hours = rules.sessions_per_person, rules.megabytes, rules.every_hours
    sessions = (
        f"at most **{reader.counted(number, 'session')}**" if number else "any number of sessions"
    )
    amount = f"at most **{reader.number(size)} MB**" if size else "any amount"
    when = (
        f"every **{hours:g} hour{'' if hours == 1 else 's'}**"
        if hours
        else "only by an administrator"
    )
    return [
        f"- Sessions are {days}, unless their domain says otherwise.",
        f"- A person may keep {sessions}; pinned ones are deleted last.",
        f"- All sessions together may take up {amount}.",
        f"- The rules are applied {when}.",
    ]


def _departing(retention: Retention) -> None:
    st.markdown(f"**{reader.counted(retention.planned, 'session')}**, the oldest first:")
    st.dataframe(
        [
            {
                "Session": one.title or "New chat",
                "Owner": one.owner_name,
                "Domain": one.domain,
                "Last used": one.last_accessed_at.astimezone(zone(st.context.timezone)),
                "Why": REASONS[one.reason],
            }
            for one in retention.first
        ],
        column_config={"Last used": _moments()},
        hide_index=True,
        width="stretch",
    )
    if retention.planned > len(retention.first):
        st.caption(f"Showing the first {reader.number(len(retention.first))}.")
    if st.button("Delete them now", key="apply-retention", icon=":material/delete:"):
        _confirm(retention.planned)


@st.dialog("Delete these sessions?", icon=":material/delete:")
def _confirm(planned: int) -> None:
    st.markdown(
        f"**{reader.counted(planned, 'session')}** will be permanently deleted, with all messages."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep-sessions"):
            st.rerun()
        if st.button("Delete", key="delete-sessions", type="primary", icon=":material/delete:"):
            with state.flashing(), st.spinner("Deleting…"):
                apply_retention(state.client())
            st.rerun()


def _runs(retention: Retention) -> None:
    if not retention.runs:
        st.caption("No runs yet.")
        return
    st.dataframe(
        [
            {
                "When": run.at.astimezone(zone(st.context.timezone)),
                "By": run.actor,
                "Planned": run.planned,
                "Deleted": run.deleted,
            }
            for run in retention.runs
        ],
        column_config={"When": _moments()},
        hide_index=True,
        width="stretch",
    )


def _moments() -> Any:
    return st.column_config.DatetimeColumn(format="localized", timezone=st.context.timezone)
