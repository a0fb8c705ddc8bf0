"""Shows a tool result's table as a table, with the whole of it as a download."""

import re
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st

from ui import state
from ui.client import ClientError
from ui.shared.text.markdown import plain

# JavaScript and Arrow hold no larger integers exactly; they are shown as text.
MAX_INTEGER = 2**53
MAX_NAME_CHARS = 80
_NOT_IN_FILE_NAMES = re.compile(r"[^\w .()+,-]+")
AMOUNT_TYPES = ("DECIMAL", "NUMERIC", "DOUBLE", "FLOAT", "REAL", "NUMBER")


def show(table: dict[str, Any], session_id: UUID, key: str) -> None:
    """A table of `metadata.table`'s shape: title, columns, the first rows, row_count, complete."""
    frame = to_frame(table)
    st.dataframe(
        frame,
        hide_index=True,
        key=f"table-{key}",
        alt=str(table.get("title") or "Table"),
        column_config=_formats(table, frame),
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_counted(table, len(frame)))
        if table.get("result_id"):
            _offer_download(table, session_id, key)


def to_frame(table: dict[str, Any]) -> pd.DataFrame:
    """Return the rows as a data frame; columns of one name are numbered, so that none is lost."""
    names = _unique([str(column.get("name", "")) for column in table.get("columns", [])])
    rows = [[_cell(value) for value in row[: len(names)]] for row in table.get("rows", [])]
    return pd.DataFrame(rows, columns=pd.Index(names)).convert_dtypes()


def file_name(title: Any) -> str:
    """A download's name, from a title that a model has written: never a path, nor a disguise."""
    name = _NOT_IN_FILE_NAMES.sub("-", str(title or ""))[:MAX_NAME_CHARS].strip(" .-")
    return f"{name or 'table'}.csv"


def _formats(table: dict[str, Any], frame: pd.DataFrame) -> dict[str, Any]:
    """Amounts in the reader's way of writing numbers; whole numbers as they are: some are years.

    The reader's way rounds to three decimals, so amounts with more are written plainly.
    """
    kinds = [str(column.get("type", "")).upper() for column in table.get("columns", [])]
    formats = {}
    for name, kind in zip(frame.columns, kinds, strict=True):
        if kind.startswith(AMOUNT_TYPES):
            is_short = all(round(v, 3) == v for v in frame[name] if isinstance(v, float))
            formats[name] = st.column_config.NumberColumn(
                format="localized" if is_short else "plain"
            )
    return formats


def _counted(table: dict[str, Any], shown: int) -> str:
    total = int(table.get("row_count") or shown)
    rows = "1 row" if total == 1 else f"{total:,} rows"
    parts = [f"First {shown:,} of {rows}" if shown < total else rows]
    if table.get("title"):
        parts.insert(0, plain(str(table["title"]), 120))
    if not table.get("complete", True):
        parts.append("cut at the tool's limit")
    return " · ".join(parts)


def _offer_download(table: dict[str, Any], session_id: UUID, key: str) -> None:
    result_id = str(table["result_id"])
    client = state.client()

    def fetch() -> bytes:
        try:
            return client.result_csv(session_id, result_id)
        except ClientError as error:
            return f"{error.title}. {error.detail}".encode()

    st.download_button(
        "Download all as CSV",
        fetch,
        file_name=file_name(table.get("title")),
        mime="text/csv",
        key=f"csv-{key}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def _unique(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _cell(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_INTEGER:
        return str(value)
    if isinstance(value, dict | list):
        return str(value)
    return value
