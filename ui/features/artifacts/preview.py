"""Shows the content of a version: a table to work on, a chart, a text, JSON, an image."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from backend.markdown.cells import Target, find_targets
from backend.markdown.dialect import split_charts
from backend.schemas.artifacts import ArtifactContent, ArtifactKind
from backend.tabular.chart_places import ChartPlace
from backend.tabular.locales import NOTHING
from ui import state
from ui.features.artifacts import calls, embedded, words
from ui.features.artifacts.known import SessionArtifacts, load
from ui.features.artifacts.origin import VersionRows, table_of
from ui.features.artifacts.words import FILE
from ui.features.results import chart as results_chart
from ui.features.results import view
from ui.shared import downloads, tables
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import Piece, plain

ROWS = 1_000  # of a table, loaded at first
LARGEST_IMAGE = 20_000_000  # bytes
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # an SVG may load other things
AROUND = 3  # rows before and after the linked one
OWN_FORMATS = {ArtifactKind.TABLE: ("csv", "xlsx")}  # below the rows, see `results.view`
MARK = "▶"
HIGHLIGHT = "background-color: rgba(255, 196, 0, 0.28); font-weight: 600"


def show(content: ArtifactContent, target: Target, session_id: UUID, key: str) -> None:
    """Draw the content; if a link points to a cell, that cell first."""
    if content.kind is ArtifactKind.TABLE and target.row is not None:
        _cell(content, target, target.row)
    DRAW[content.kind](content, session_id, key)


def draw_chart(content: ArtifactContent, key: str, *, has_choices: bool) -> None:
    """Draw a chart from its data, in the colours of the page's theme, so that it is readable."""
    table = content.preview.get("table")
    if not isinstance(table, Mapping) or not table.get("columns"):
        st.caption("There is nothing to draw.")
        return
    drawn = {"title": content.title, **table, "chart": content.preview.get("spec")}
    results_chart.show(drawn, key, has_choices=has_choices)


def _chart(content: ArtifactContent, session_id: UUID, key: str) -> None:
    draw_chart(content, key, has_choices=True)


def _table(content: ArtifactContent, session_id: UUID, key: str) -> None:
    table = table_of(content)
    if not table["columns"]:
        st.caption("This table has no columns.")
        return
    rows = VersionRows(content.artifact_id, content.version, table)
    view.show(table, rows, key)


def _cell(content: ArtifactContent, target: Target, row: int) -> None:
    """Draw the linked row with those around it, and mark its cell."""
    total = int(content.preview.get("total_rows") or 0)
    if not 0 < row <= total:
        st.warning(
            f"This version has no row {reader.number(row)}: it has {reader.number(total)} rows.",
            icon=":material/link_off:",
        )
        return
    first = max(0, row - 1 - AROUND)
    near = calls.get_version(
        state.client(), content.artifact_id, content.version, first, 2 * AROUND + 1
    )
    table = table_of(near)
    frame = tables.to_frame(table)
    writers: dict[Any, Any] = dict(
        zip(frame.columns, tables.writers(table, st.context.locale), strict=True)
    )
    numbers = range(first + 1, first + 1 + len(frame))
    marks = [f"{MARK} {n}" if n == row else str(n) for n in numbers]
    marked = frame.copy()
    marked.insert(0, "Row", pd.Series(marks, dtype="string"), allow_duplicates=True)
    has_column = target.column is None or target.column in frame.columns
    if not has_column:
        st.warning(
            f"This version has no column {plain(target.column or '', 80)}.",
            icon=":material/link_off:",
        )
    column = f" · {plain(target.column)}" if target.column and has_column else ""
    st.caption(f":material/my_location: Row {reader.number(row)}{column}")
    place = pd.IndexSlice[row - 1 - first, target.column or slice(None)]
    styled = marked.style.format(writers)
    if has_column and not marked.columns.has_duplicates:
        styled = styled.map(lambda _: HIGHLIGHT, subset=place)
    order = ["Row", target.column, *frame.columns] if target.column and has_column else None
    st.dataframe(
        styled,
        hide_index=True,
        column_order=list(dict.fromkeys(order)) if order else None,
        key=f"near-{content.artifact_id}-{content.version}-{row}",
        placeholder=NOTHING,
        alt=f"Rows around row {row}",
    )


def _document(content: ArtifactContent, session_id: UUID, key: str) -> None:
    text = str(content.preview.get("text") or "")
    known = SessionArtifacts(session_id, load(session_id) if find_targets(text) else {})

    def draw(piece: Piece) -> None:
        long_text.draw_piece(known.write(piece))

    for number, part in enumerate(split_charts(text)):
        if isinstance(part, ChartPlace):
            _chart_in_place(content, part, f"{key}-{number}")
        else:
            long_text.answer(part, f"{key}-{number}", draw)
    _say_cut(text, content)


def _chart_in_place(document: ArtifactContent, place: ChartPlace, key: str) -> None:
    """Draw a chart where a document names it, else its title and why it is missing."""
    chart = embedded.find(document.artifact_id, place) if place.is_shown else None
    with st.container(border=chart is None, gap="xsmall", key=f"in-place-{key}"):
        if chart is not None:
            draw_chart(chart, key, has_choices=False)
            st.caption(plain(place.title), text_alignment="center")
        else:
            st.markdown(f"**{plain(place.title)}**")
            st.caption(place.problem)


def _say_cut(text: str, content: ArtifactContent) -> None:
    total = int(content.preview.get("total_characters") or len(text))
    if total > len(text):
        shown = f"{reader.number(len(text))} of {reader.number(total)}"
        st.caption(f"Showing the first {shown} characters; the download has all of them.")


def _json(content: ArtifactContent, session_id: UUID, key: str) -> None:
    if "value" in content.preview:
        long_text.code(lay_out(content.preview["value"]), f"json-{key}", "json")
        return
    text = str(content.preview.get("text") or "")
    long_text.code(text, f"json-{key}", "json")
    _say_cut(text, content)


def _image(content: ArtifactContent, session_id: UUID, key: str) -> None:
    if content.bytes > LARGEST_IMAGE:
        st.caption(f"Images larger than {words.size(LARGEST_IMAGE)} are not shown here.")
        _file(content, session_id, key)
        return
    if content.media_type in PICTURES:
        path = calls.download_path(content.artifact_id, content.version)
        downloads.image(path, {"format": FILE}, content.title)
        st.caption(plain(content.title), text_alignment="center")
    else:
        st.caption("Images of this type are not shown here. Download it to view it.")


def _file(content: ArtifactContent, session_id: UUID, key: str) -> None:
    """Draw a file's name, its type by content, and its size; the file is never executed."""
    with st.container(border=True, gap="xsmall", key=f"file-{key}"):
        st.markdown(f"{words.ICONS[content.kind]} **{plain(words.file_of(content), 200)}**")
        about = f"{content.media_type} · {words.size(content.bytes)}"
        st.caption(f"{plain(about)}: download it to view it.")


Draw = Callable[[ArtifactContent, UUID, str], None]
DRAW: Mapping[ArtifactKind, Draw] = {
    ArtifactKind.TABLE: _table,
    ArtifactKind.CHART: _chart,
    ArtifactKind.DOCUMENT: _document,
    ArtifactKind.JSON: _json,
    ArtifactKind.IMAGE: _image,
    ArtifactKind.FILE: _file,
}
