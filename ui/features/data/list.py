"""All data that agents can query: the caller's files, then the installation's sources."""

import streamlit as st

from backend.schemas.data.files import FilePage, FileSummary, IfExists
from backend.schemas.data.sources import SourceList, SourceSummary
from ui import state
from ui.client import ClientError
from ui.features.data import state as data_state
from ui.features.data import words
from ui.features.data.state import DataPageState
from ui.shared import named_alike, pager
from ui.shared.formats import reader
from ui.shared.named_alike import NamedAlike, Upload
from ui.shared.text.markdown import plain

UPLOADER = "upload-files"
EVERY_SESSION = "All sessions whose agents have data tools"


def show_upload() -> None:
    """Draw the uploader for files of all sessions, and the results of the last upload.

    A click may begin another run with the same files at any time, and end this one at its next use
    of Streamlit; the other run then uploads the rest.
    """
    page_state = data_state.data_page_state()
    files = st.file_uploader(
        "Upload files for all your sessions",
        accept_multiple_files=True,
        max_upload_size=state.server().max_file_mb,
        key=UPLOADER,
        help="Tables as CSV, text, Excel, Parquet or JSON; bank statements in CAMT or MT940;"
        " documents as PDF, text or Markdown. "
        "To add a file to one session only, drop it into its chat.",
    )
    if not files:  # the page has been left since the last upload
        page_state.refused, page_state.named_alike = [], []
    with state.memory().acting:
        uploads = [Upload(file.file_id, file.name, file) for file in files]
        new = [file for file in uploads if file.id not in page_state.uploaded]
        page_state.keep_refused(file.id for file in new)
        for file in new:
            _upload(file, page_state, IfExists.REFUSE)
    if new:
        st.rerun()
    for problem in page_state.refused:
        st.error(plain(problem, 600), icon=":material/error:")
    for found in page_state.named_alike:
        named_alike.show(st.container(gap="xsmall"), found, found.file.id, _decide)


def _decide(found: NamedAlike, answer: IfExists | None) -> None:
    """Upload a file whose name is taken as a person has decided, or leave it out."""
    page_state = data_state.data_page_state()
    with state.memory().acting:
        if found not in page_state.named_alike:
            return  # the second click of two
        page_state.named_alike.remove(found)
        if answer is not None:
            _upload(found.file, page_state, answer)


def _upload(file: Upload, page_state: DataPageState, if_exists: IfExists) -> None:
    client = state.client()
    try:
        uploaded = client.upload_file(None, file.name, file.content, if_exists)
    except ClientError as problem:
        if problem.status == named_alike.TAKEN:
            page_state.named_alike.append(NamedAlike(file, problem.detail))
        else:
            page_state.refused.append(f"{file.name}: {problem.detail}")
        page_state.uploaded.add(file.id)
        return
    page_state.uploaded.add(file.id)
    if uploaded.problem:
        page_state.refused.append(f"{uploaded.name}: {uploaded.problem}")
    else:
        state.say(plain(f"{uploaded.name}: {uploaded.summary or 'being read'}", 600))


def show_files(page: FilePage) -> None:
    """Draw a row for each of the caller's files."""
    st.subheader("Your files", anchor=False)
    if not page.items:
        st.caption("No files yet. Upload one above, or drop one into a chat.")
    for file in page.items:
        with st.container(border=True, gap=None):
            _file_row(file)
    with st.container(horizontal=True):
        page_state = data_state.data_page_state()
        pager.by_cursor(
            page_state.cursors, page.next_cursor, "files", ("Newer files", "Older files")
        )


def show_sources(sources: SourceList) -> None:
    """Draw a row for each source of the installation."""
    st.subheader("Sources of this service", anchor=False)
    for source in sources.items:
        with st.container(border=True, gap=None):
            _source_row(source)
    if sources.left_out:
        more = reader.number(sources.left_out)
        st.caption(f"{more} more files of the service are over the limit and were not read.")


def _file_row(file: FileSummary) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"**{plain(file.name, 120)}**",
            key=f"open-file-{file.id}",
            type="tertiary",
            on_click=data_state.show_file,
            args=(file.id,),
        )
        st.caption(words.about_file(file))
    if file.problem:
        st.markdown(f":material/error: {plain(file.problem, 400)}")
    elif file.summary:
        st.caption(plain(file.summary, 400))
    st.caption(f"In queries: {plain(file.source, 80)} · {words.who(file)}")


def _source_row(source: SourceSummary) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"**{plain(source.name, 120)}**",
            key=f"open-source-{source.name}",
            type="tertiary",
            on_click=data_state.show_source,
            args=(source.name,),
        )
        st.caption(words.about_source(source))
    if source.problem:
        st.markdown(f":material/error: {plain(source.problem, 400)}")
    st.caption(f"{plain(source.description, 300)} · {EVERY_SESSION}")
