"""Shows the differences between two versions: rows and cells with signs, lines as a diff."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from backend.schemas.artifacts import ArtifactContent, ArtifactDiff, ArtifactKind, RowChange
from backend.tabular.locales import NOTHING
from ui import state
from ui.client import ClientError
from ui.features.artifacts import calls, words
from ui.shared import tables
from ui.shared.formats import reader
from ui.shared.text import long_text
from ui.shared.text.markdown import plain

CHANGE = "Change"
# Readable in both themes; the sign in the first column carries the same information.
COLOURS = {
    "added": "background-color: rgba(46, 160, 67, 0.22)",
    "removed": "background-color: rgba(218, 54, 51, 0.22); text-decoration: line-through",
    "changed": "",
}
CELL = "background-color: rgba(255, 196, 0, 0.28); font-weight: 600"

Writers = Mapping[str, Callable[[Any], str]]


def show(content: ArtifactContent, other: int, key: str) -> None:
    """Draw the changes between this version and another, from the earlier to the later."""
    before, after = sorted((other, content.version))
    by = _choose_key(content)
    try:
        diff = calls.get_diff(state.client(), content.artifact_id, before, after, by)
    except ClientError as problem:
        st.warning(f"{plain(problem.title)}. {plain(problem.detail, 600)}")
        return
    st.caption(f"From version {before} to version {after}")
    st.markdown(plain(words.diff_summary(diff), 600))
    if diff.rows:
        _rows(diff, _writers(content), key)
    if diff.lines:
        long_text.code("\n".join(diff.lines), f"diff-{key}-{other}", "diff")
    if diff.is_cut:
        shown = reader.number(len(diff.rows) or len(diff.lines))
        st.caption(f":material/info: Showing the first {shown} changes; the counts cover all.")


def _choose_key(content: ArtifactContent) -> list[str]:
    if content.kind is not ArtifactKind.TABLE:
        return []
    names = [str(column.get("name")) for column in content.preview.get("columns") or []]
    return st.multiselect(
        "Match rows by",
        names,
        key=f"diff-key-{content.artifact_id}",
        placeholder="All columns",
        help="Columns that identify a row, such as an account, so that changed cells are shown."
        " Without them, a changed row appears as one removed and one added.",
    )


def _writers(content: ArtifactContent) -> Writers:
    """Return the formatters of each column's cells, the same as in the table itself."""
    columns = content.preview.get("columns") or []
    writers = tables.writers({"columns": columns}, st.context.locale)
    return {str(column.get("name")): write for column, write in zip(columns, writers, strict=True)}


def _rows(diff: ArtifactDiff, writers: Writers, key: str) -> None:
    frame = to_frame(diff.rows, writers)
    changed = [{cell.column for cell in row.cells} for row in diff.rows]
    kinds = [row.change for row in diff.rows]

    def colours(line: "pd.Series[Any]") -> list[Any]:
        number = int(str(line.name))
        row = COLOURS[kinds[number]]
        return [CELL if column in changed[number] else row for column in line.index]

    st.dataframe(
        frame.style.apply(colours, axis=1),
        hide_index=True,
        key=f"diff-rows-{key}-{diff.before}-{diff.after}",
        alt=f"Changes from version {diff.before} to {diff.after}",
    )


def to_frame(rows: Sequence[RowChange], writers: Writers) -> pd.DataFrame:
    """Return the changes as texts: a sign and a word first, changed cells with both values."""
    lines = []
    for row in rows:
        line = {CHANGE: f"{words.SIGNS[row.change]} {row.change}"}
        line |= {
            name: _text(value, writers.get(name))
            for name, value in row.row.items()
            if name != CHANGE
        }
        for cell in row.cells:
            write = writers.get(cell.column)
            line[cell.column] = f"{_text(cell.before, write)} → {_text(cell.after, write)}"
        lines.append(line)
    return pd.DataFrame(lines).fillna(NOTHING)


def _text(value: Any, write: Callable[[Any], str] | None) -> str:
    if value is None:
        return NOTHING
    return str(value) if write is None else write(value)
