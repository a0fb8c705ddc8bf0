"""The page Import: an upload, what was found in it, and how far its import is."""

from dataclasses import dataclass, field

import streamlit as st

from backend.schemas.imports import Import, ImportReport, ImportStatus
from ui import navigation, state
from ui.client import ClientError
from ui.features.domains import choice
from ui.features.imports import calls
from ui.shared import banners, downloads, pager
from ui.shared.formats import reader
from ui.shared.formats.times import zone
from ui.shared.text.markdown import plain

SECONDS = 2
_STATE, _UPLOADER = "import-page", "upload-import"
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


@dataclass
class _PageState:
    """One tab's memory: the uploader's files that were sent, and why the last was refused."""

    uploaded: set[str] = field(default_factory=set)
    cursors: list[str] = field(default_factory=list)
    refused: str = ""


def _page() -> _PageState:
    found: _PageState = st.session_state.setdefault(_STATE, _PageState())
    return found


def show_upload() -> None:
    """Draw the uploader, and send a file that was added."""
    page = _page()
    file = st.file_uploader(
        "Upload an export",
        max_upload_size=state.server().max_import_mb,
        key=_UPLOADER,
        help="The file as the other program exported it: a zip, JSON or JSON Lines.",
    )
    is_new = file is not None and file.file_id not in page.uploaded
    if file is not None and is_new:
        page.uploaded.add(file.file_id)
        page.refused = ""
        with state.memory().acting, st.spinner("Reading the export…"):
            try:
                calls.upload(state.client(), file.name, file)
                page.cursors = []
            except ClientError as problem:
                page.refused = f"{file.name}: {problem.detail}"
        st.rerun()
    if page.refused:
        st.error(plain(page.refused, 600), icon=":material/error:")


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
    page = _page()
    try:
        found = calls.list_imports(state.client(), page.cursors[-1] if page.cursors else None)
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
        pager.by_cursor(page.cursors, found.next_cursor, "imports", names)


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
