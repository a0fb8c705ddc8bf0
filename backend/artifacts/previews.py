"""Previews stored with a version, to show it before all of it is read: bounded, and pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.data.results import Table
from backend.types import JSON

TEXT_CHARS = 20_000
_ROW_CHARS = 20  # overhead of a row


def table_preview(table: Table, total: int) -> JSON:
    """Return a table's columns and these rows."""
    return {
        "columns": [column.wire for column in table.columns],
        "rows": table.rows,
        "total_rows": total,
    }


def text_preview(text: str) -> JSON:
    """Return the beginning of a text."""
    return {"text": text[:TEXT_CHARS], "total_characters": len(text)}


def json_preview(text: str) -> JSON:
    """Return the value of a JSON text, or the text's beginning if it is long."""
    return {"value": json.loads(text)} if len(text) <= TEXT_CHARS else text_preview(text)


def fitting(kind: str, preview: Mapping[str, Any], content: bytes | None, characters: int) -> Any:
    """Return what a model reads of a version: its whole content, or as much as fits.

    This is the JSON value, the text, or a table's first rows with their total; cuts are marked.
    """
    if kind == "json":
        return _json_value(preview, content, characters)
    if kind == "document":
        text = content.decode() if content is not None else str(preview.get("text", ""))
        total = int(preview.get("total_characters", len(text)))
        return text if total <= characters else _cut(text, total, characters)
    if kind == "table":
        return _rows_that_fit(preview, characters)
    return dict(preview)


def _json_value(preview: Mapping[str, Any], content: bytes | None, characters: int) -> Any:
    text = content.decode() if content is not None else preview.get("text")
    if text is None:
        text = json.dumps(preview.get("value"), ensure_ascii=False)
    total = int(preview.get("total_characters", len(text)))
    if len(text) >= total and len(text) <= characters:
        return json.loads(text)
    return _cut(text, total, characters)


def _cut(text: str, total: int, characters: int) -> JSON:
    return {"text": text[:characters], "total_characters": total, "is_cut": True}


def _rows_that_fit(preview: Mapping[str, Any], characters: int) -> JSON:
    columns, rows = preview["columns"], preview["rows"]
    left = characters - sum(len(str(one)) for one in columns)
    shown: list[Sequence[Any]] = []
    for row in rows:
        left -= _ROW_CHARS + sum(len(str(cell)) + 2 for cell in row)
        if left < 0:
            break
        shown.append(row)
    return {"columns": columns, "rows": shown, "total_rows": preview["total_rows"]}
