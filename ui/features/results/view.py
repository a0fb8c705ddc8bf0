"""A table result: as a table to sort, search and filter, or as a chart, with copy and downloads.

What the grid's own toolbar does (sort, search, copy cells, full screen) is not here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from backend.tabular.cells import rows_with
from backend.tabular.charts.fitting import default_spec
from backend.tabular.locales import NOTHING
from ui.client import ClientError
from ui.features.results import chart
from ui.features.results.calls import Format
from ui.features.results.origins import Origin
from ui.shared import clipboard, tables
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

TABLE, CHART = "Table", "Chart"
_ICONS = {TABLE: ":material/table:", CHART: ":material/bar_chart:"}
FILES: tuple[tuple[Format, str], ...] = (("csv", "CSV"), ("xlsx", "Excel"))
MAX_SHOWN_ROWS = 10_000
MAX_COPIED_CHARS = 300_000
MOST_NOTES = 3

Table = Mapping[str, Any]


@st.fragment
def show(table: Table, origin: Origin, key: str) -> None:
    """Draw a table of `metadata.table`'s shape: title, columns, first rows, row_count, complete."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"head-table-{key}"
    ):
        st.caption(_title(table), width="stretch")
        text = st.text_input(
            "Filter rows",
            key=f"filter-{key}",
            placeholder="Filter rows",
            label_visibility="collapsed",
            icon=":material/filter_alt:",
            width=170,
        )
        shown_as = _choose_view(table, key)
    try:
        whole = origin.whole() if text or shown_as == CHART else table
    except ClientError as error:
        st.warning(f"{plain(error.title)}. {plain(error.detail)} Showing the first rows.")
        whole = table
    locale = st.context.locale
    rows = rows_with(whole, text, locale) if text else list(whole.get("rows", []))
    found = {**whole, "rows": rows}
    if "read_rows" in whole:  # of a very long table, not all rows are searched
        table = {**table, "read_rows": whole["read_rows"]}
    if shown_as == CHART:
        chart.show(found, key)
    else:
        found["rows"] = rows[:MAX_SHOWN_ROWS]
        _draw(found, key)
    _below(table, origin, found, len(rows), key, is_filtered=bool(text))
    _say(table.get("notes") or [])


def _draw(table: Table, key: str) -> None:
    frame = tables.to_frame(table)
    st.dataframe(
        tables.styled(table, frame, st.context.locale),
        hide_index=True,
        key=f"table-{key}",
        placeholder=NOTHING,
        alt=str(table.get("title") or "Table"),
    )


def _say(notes: Sequence[str]) -> None:
    """Draw what is to be known of the figures: the zone of their times, and what was left out."""
    shown = MOST_NOTES if len(notes) > MOST_NOTES + 1 else len(notes)
    for note in notes[:shown]:
        st.caption(f":material/info: {plain(note, 500)}")
    if rest := notes[shown:]:
        with st.expander(f"{len(rest)} more notes"):
            for note in rest:
                st.caption(plain(note, 500))


def _choose_view(table: Table, key: str) -> str:
    """Return whether to show a table or a chart; a table if no chart is possible."""
    if default_spec(table["columns"]) is None and not table.get("chart"):
        return TABLE
    chosen = st.segmented_control(
        "Show as",
        (TABLE, CHART),
        default=CHART if table.get("chart") else TABLE,
        format_func=lambda name: f"{_ICONS[name]} {name}",
        key=f"view-{key}",
        label_visibility="collapsed",
        required=True,
        width="content",
    )
    return chosen or TABLE


def _below(
    table: Table, origin: Origin, found: Table, count: int, key: str, *, is_filtered: bool
) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key=f"actions-table-{key}"
    ):
        st.caption(counted(table, len(found["rows"]), count if is_filtered else None))
        text = tables.as_tabbed(found, st.context.locale)
        if len(text) <= MAX_COPIED_CHARS:
            clipboard.offer(text, f"copy-table-{key}", "Copy the rows for a spreadsheet", "Copy")
        for ending, name in FILES:
            origin.offer(name, ending, f"{ending}-{key}")


def counted(table: Table, shown: int, matching: int | None = None) -> str:
    """Return how many of the rows are shown, and whether the tool has cut them."""
    total = int(table.get("row_count") or len(table.get("rows", [])))
    rows = reader.counted(total, "row")
    parts = []
    if matching is not None:
        parts.append(f"{reader.number(matching)} of {rows} match")
        total = matching
    if shown < total:
        parts.append(
            f"{reader.number(shown)} of {reader.number(total)} rows"
            if matching is None
            else f"first {reader.number(shown)}"
        )
    elif matching is None:
        parts.append(rows)
    if (read := table.get("read_rows")) and read < int(table["row_count"]):
        parts.append(f"of the first {reader.number(read)} rows")
    if not table.get("complete", True):
        parts.append("cut at the tool's limit; there are more")
    return " · ".join(parts)


def _title(table: Table) -> str:
    return plain(str(table.get("title") or "Table"), 120)
