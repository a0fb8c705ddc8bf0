"""The page Import: an upload, what was found in it, and how far its import is."""

import streamlit as st

from backend.schemas.imports import Import, ImportReport, ImportStatus
from ui import navigation, state
from ui.client import ClientError
from ui.features.domains import choice
from ui.features.imports import calls
from ui.shared import banners, downloads, pager, uploads
from ui.shared.formats import reader
from ui.shared.formats.times import zone
from ui.shared.text.markdown import plain

SECONDS = 2
_CURSORS = "import-page"
_ICONS = {
    ImportStatus.INSPECTED: ":material/fact_check:",
    ImportStatus.RUNNING: ":material/progress_activity:",
    ImportStatus.CANCELLED: ":material/cancel:",
    ImportStatus.FAILED: ":material/error:",
    ImportStatus.SUCCEEDED: ":material/check_circle:",
}
_OUTCOMES = {
    "imported": "imported",
    "known": "already here",
    "changed": "already here, changed since",
    "skipped": "left out",
}
_AGAIN = (ImportStatus.CANCELLED, ImportStatus.FAILED)


def _cursors() -> list[str]:
    """Return the places of the pages of the list that this tab has gone through."""
    found: list[str] = st.session_state.setdefault(_CURSORS, [])
    return found


def show_upload() -> None:
    """Draw the place for an export; after an upload, the list shows the newest."""
    help_ = "The file as the other program exported it: a zip, JSON or JSON Lines."
    most = state.server().max_import_mb
    if uploads.show("imports", "Upload an export", help_, most, are_many=False):
        _cursors().clear()


def show_export() -> None:
    """Draw the download of all sessions."""
    downloads.link(
        "Export all my sessions",
        "export",
        help="As JSON Lines, which can be imported here or elsewhere, with branches and files.",
    )


def show_imports() -> None:
    """Draw the imports; while one runs, again every few seconds."""
    _show_domain()
    _list()


def _show_domain() -> None:
    st.subheader("Your imports", anchor=False)
    st.caption("Conversations become sessions of this domain:")
    domain = choice.show()
    st.session_state["import-domain"] = str(domain.id) if domain else None


@st.fragment(run_every=SECONDS)
def _list() -> None:
    cursors = _cursors()
    try:
        found = calls.list_imports(state.client(), cursors[-1] if cursors else None)
    except ClientError as error:
        banners.error(error)
        return
    if not found.items:
        st.caption("No imports yet. Upload an export above.")
    for one in found.items:
        with st.container(border=True, key=f"import-{one.id}"):
            _show(one)
    with st.container(horizontal=True):
        names = ("Newer imports", "Older imports")
        pager.by_cursor(cursors, found.next_cursor, "imports", names)


def _show(one: Import) -> None:
    found = one.inspection
    st.markdown(f"{_ICONS[one.status]} **{plain(one.name, 120)}** · {plain(found.label, 60)}")
    times = [
        at.astimezone(zone(st.context.timezone)) for at in (found.first_at, found.last_at) if at
    ]
    between = f", {times[0]:%Y-%m-%d} to {times[-1]:%Y-%m-%d}" if times else ""
    st.caption(
        f"{reader.counted(found.conversations, 'conversation')} with"
        f" {reader.counted(found.messages, 'message')}{between};"
        f" {reader.counted(found.attachments, 'attachment')}, {reader.number(found.missing)} of"
        f" them missing; {reader.number(found.known)} already here;"
        f" {reader.number(found.skipped_count)} cannot be imported."
    )
    for note in found.notes:
        st.caption(plain(note, 300))
    for left_out in found.skipped[:10]:
        st.caption(f"{plain(left_out.title, 120)}: {plain(left_out.reason, 300)}")
    _show_progress(one)
    _show_actions(one)
    if one.report:
        with st.expander(f"Report ({reader.number(len(one.report))})"):
            for line in one.report:
                _show_line(line)


def _show_progress(one: Import) -> None:
    total = one.inspection.conversations + one.inspection.skipped_count
    if one.status is ImportStatus.RUNNING:
        words = f"{reader.number(one.done)} of {reader.number(total)}"
        st.progress(min(1.0, one.done / max(1, total)), words)
    if one.error:
        st.error(plain(one.error, 600), icon=":material/error:")
    if one.counts:
        parts = [
            f"{reader.number(one.counts[name])} {words}"
            for name, words in _OUTCOMES.items()
            if name in one.counts
        ]
        st.markdown(", ".join(parts))


def _show_actions(one: Import) -> None:
    with st.container(horizontal=True):
        if one.status is ImportStatus.INSPECTED or one.status in _AGAIN:
            label = "Import again" if one.status in _AGAIN else "Import"
            st.button(
                label, key=f"start-import-{one.id}", type="primary", on_click=_start, args=(one,)
            )
        if one.status in (ImportStatus.INSPECTED, ImportStatus.RUNNING):
            st.button("Cancel", key=f"cancel-import-{one.id}", on_click=_cancel, args=(one,))


def _show_line(line: ImportReport) -> None:
    title = plain(line.title or "New chat", 120)
    if line.session_id:
        st.page_link(
            navigation.CHAT_PAGE,
            label=title,
            query_params=navigation.session_query(line.session_id),
        )
    else:
        st.markdown(title)
    notes = " ".join(plain(note, 300) for note in line.notes)
    st.caption(f"{_OUTCOMES.get(line.outcome, line.outcome)}. {notes}")


def _start(one: Import) -> None:
    with state.memory().acting, state.flashing():
        calls.start(state.client(), one.id, st.session_state.get("import-domain"))


def _cancel(one: Import) -> None:
    with state.memory().acting, state.flashing():
        calls.cancel(state.client(), one.id)
