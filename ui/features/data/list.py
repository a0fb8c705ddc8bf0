"""All data that agents can query: the caller's files, then the installation's sources."""

import streamlit as st

from backend.schemas.data.files import FilePage, FileSummary
from backend.schemas.data.sources import SourceList, SourceSummary
from ui import state
from ui.features.data import state as data_state
from ui.features.data import words
from ui.shared import pager, uploads
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

EVERY_SESSION = "All sessions whose agents have data tools"
HELP = (
    "Tables as CSV, text, Excel, Parquet or JSON; bank statements in CAMT or MT940; documents as"
    " PDF, text or Markdown. To add a file to one session only, drop it into its chat."
)


def show_upload() -> None:
    """Draw the place for files of all sessions; after an upload, the list shows the newest."""
    label, most = "Upload files for all your sessions", state.server().max_file_mb
    if uploads.show("files", label, HELP, most, asks=True):
        data_state.data_page_state().cursors = []


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
