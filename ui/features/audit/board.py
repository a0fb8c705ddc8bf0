"""The audit trail: filters, rows, pages and files."""

import json
from typing import Any

import streamlit as st

from backend.schemas.operations.audit import AuditEvent, AuditPage
from ui import state
from ui.features.audit import calls
from ui.features.audit.calls import Wanted
from ui.shared import days, downloads, pager
from ui.shared.formats.times import zone

FILES = {"csv": "CSV", "jsonl": "JSON lines"}
_CURSORS = "audit-cursors"


def filters() -> Wanted:
    """Draw the filters; a change goes back to the first page."""
    kinds = calls.list_kinds(state.client())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        action = _choice("Action", "audit-action", kinds.actions)
        subject = _choice("Subject", "audit-subject", kinds.subjects)
        actor = _text("Who", "audit-actor")
        subject_id = _text("Subject's id", "audit-subject-id")
        since, until = days.field("audit-days", _first_page)
    return {
        "action": action,
        "subject": subject,
        "actor": actor,
        "subject_id": subject_id,
        "since": since,
        "until": until,
    }


def load(wanted: Wanted) -> AuditPage:
    """Return the page of the trail that is open."""
    places = _cursors()
    return calls.list_events(state.client(), wanted, places[-1] if places else None)


def show(page: AuditPage) -> None:
    """Draw a page of events."""
    st.dataframe(
        [_cells(event) for event in page.items],
        hide_index=True,
        placeholder="",
        height="content",
        width="stretch",
        column_config={
            "When": st.column_config.DatetimeColumn(
                format="localized", timezone=st.context.timezone
            )
        },
        alt="Audit trail",
    )


def paging(page: AuditPage) -> None:
    """Draw the buttons for the next and the previous page."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        pager.by_cursor(_cursors(), page.next_cursor, "audit", ("Newer", "Older"))


def files(wanted: Wanted) -> None:
    """Draw the links to all events that match, as files."""
    with st.container(horizontal=True):
        for format, name in FILES.items():
            params = {**calls.params(wanted), "format": format}
            downloads.link(f"Download as {name}", "audit/export", params)


def _cells(event: AuditEvent) -> dict[str, Any]:
    return {
        "When": event.at.astimezone(zone(st.context.timezone)),
        "Who": event.actor_name or event.actor or "not signed in",
        "Action": event.action.replace("_", " "),
        "Subject": event.subject,
        "Of": event.subject_name or event.subject_id,
        "Details": ", ".join(f"{name}: {_short(value)}" for name, value in event.details.items()),
    }


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _choice(label: str, key: str, options: list[str]) -> str | None:
    return st.selectbox(
        label,
        options,
        index=None,
        key=key,
        format_func=lambda name: name.replace("_", " "),
        placeholder="All",
        on_change=_first_page,
        width=160,
    )


def _text(label: str, key: str) -> str | None:
    given = st.text_input(label, key=key, max_chars=500, on_change=_first_page, width=160)
    return (given or "").strip() or None


def _cursors() -> list[str]:
    found: list[str] = st.session_state.setdefault(_CURSORS, [])
    return found


def _first_page() -> None:
    _cursors().clear()
