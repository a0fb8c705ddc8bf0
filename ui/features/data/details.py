"""One source or file: its tables with their columns, a sample, and how it was read."""

from collections.abc import Callable, Sequence

import streamlit as st

from backend.schemas.data.files import FileDetails, FileTable
from backend.schemas.data.sources import SourceDetails, SourceTable, TableSample
from backend.tabular.locales import NOTHING
from ui import navigation, state
from ui.client import ClientError
from ui.features.data import calls, words
from ui.features.data import state as data_state
from ui.shared import downloads, tables
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

GetSample = Callable[[str], TableSample]
MAX_SENTENCES = 30


def show_way_back() -> None:
    """Draw the button from one source back to the list."""
    st.button(
        "All data",
        key="all-data",
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=data_state.show_all,
    )


def show_file(file: FileDetails) -> None:
    """Draw a file: its kind and size, how it was read, its tables."""
    st.title(plain(file.name, 120), anchor=False)
    st.caption(
        f"{words.about_file(file)} · {words.who(file)} · in queries: {plain(file.source, 80)}"
    )
    if file.session_id:
        st.page_link(
            navigation.CHAT_PAGE,
            label="Open its session",
            icon=":material/forum:",
            query_params=navigation.session_query(file.session_id),
        )
    if file.problem:
        st.error(plain(file.problem, 600), icon=":material/error:")
    elif not file.is_read:
        st.info("The file is still being read. Open it again in a moment.")
    elif file.summary:
        st.markdown(plain(file.summary, 600))
    table = choose_table(file.content)
    if table is not None:
        _sentences(table)
        show_table(table, lambda name: calls.file_sample(state.client(), file.id, name))
    downloads.link("Download the file", f"files/{file.id}/content")


def show_source(source: SourceDetails) -> None:
    """Draw a source of the installation with its first tables."""
    st.title(plain(source.name, 120), anchor=False)
    st.caption(plain(f"{words.KINDS[source.kind]} · {source.description}", 400))
    if source.note:
        st.info(plain(source.note, 600))
    if source.next_offset is not None:
        st.caption(f"The first {len(source.tables)} of {reader.number(source.table_count)} tables.")
    table = choose_table(source.tables)
    if table is not None:
        _sentences(table)
        show_table(table, lambda name: calls.source_sample(state.client(), source.name, name))


def choose_table(found: Sequence[SourceTable]) -> SourceTable | None:
    """Return the table to show: the only one, or the chosen one."""
    if len(found) < 2:
        return found[0] if found else None
    by_name = {table.name: table for table in found}
    chosen = st.selectbox("Table", list(by_name), key="data-table", width=320)
    return by_name.get(str(chosen), found[0])


def show_table(table: SourceTable, get_sample: GetSample) -> None:
    """Draw a table's columns and its first rows."""
    rows = "" if table.rows is None else f", {reader.counted(table.rows, 'row')}"
    columns = reader.counted(len(table.columns), "column")
    st.subheader(f"{columns}{rows}", anchor=False)
    st.dataframe(
        [
            {"Column": c.name, "Type": words.type_words(c.type), "Meaning": c.meaning}
            for c in table.columns
        ],
        hide_index=True,
        width="stretch",
        height=min(38 + 35 * len(table.columns), 320),
        key="data-columns",
    )
    try:
        show_sample(get_sample(table.name))
    except ClientError as problem:
        st.warning(plain(f"No sample is available. {problem.detail}", 600))


def show_sample(sample: TableSample, key: str = "data-sample") -> None:
    """Draw the first rows of a table."""
    shown = {"columns": [c.model_dump() for c in sample.columns], "rows": sample.rows}
    st.caption("All rows" if sample.complete else f"The first {len(sample.rows)} rows")
    rows = tables.styled(shown, tables.to_frame(shown), st.context.locale)
    st.dataframe(rows, hide_index=True, width="stretch", key=key, placeholder=NOTHING)


def _sentences(table: SourceTable) -> None:
    """Draw how a table was read, and notes on it."""
    sentences = list(table.warnings)[:MAX_SENTENCES]
    if isinstance(table, FileTable):
        skipped = [*table.titles, *table.below]
        sentences = [
            f"Line {reader.number(line.line)} was skipped: {line.text}" for line in skipped
        ] + sentences
    elif table.understood:
        sentences = [f"Read as {'; '.join(table.understood)}.", *sentences]
    if sentences:
        st.markdown("\n".join(f"- {plain(sentence, 400)}" for sentence in sentences))
