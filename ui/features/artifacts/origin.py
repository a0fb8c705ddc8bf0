"""A version's table in the form that the pages' tables expect: first rows, all rows, files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import streamlit as st

from backend.schemas.artifacts import ArtifactContent
from ui import state
from ui.features.artifacts import calls
from ui.features.results.calls import Format
from ui.features.results.view import MAX_SHOWN_ROWS
from ui.shared import downloads

KEPT_SECONDS, MAX_KEPT = 300, 10
PAGE_ROWS = 1_000

Table = Mapping[str, Any]


def table_of(content: ArtifactContent) -> dict[str, Any]:
    """Return the loaded rows in the shape of a tool's table."""
    shown = content.preview
    rows = shown.get("rows") or []
    total = int(shown.get("total_rows") or len(rows))
    columns = shown.get("columns") or []
    title = {"title": content.title, "columns": columns, "rows": rows}
    return {**title, "row_count": total, "complete": True}


@dataclass(frozen=True)
class VersionRows:
    """The rows of a version, which never changes; of a very long table, those that a page shows."""

    artifact_id: UUID
    version: int
    first: Table

    def whole(self) -> Table:
        """Return all rows, or the first ten thousand, as `complete` says. Raise ClientError."""
        if len(self.first["rows"]) >= self.first["row_count"]:
            return self.first
        return _rows(state.server().user, self.artifact_id, self.version)

    def offer(self, label: str, format: Format, key: str) -> None:
        """Draw what saves all rows as a file."""
        path = calls.download_path(self.artifact_id, self.version)
        downloads.link(label, path, {"format": format}, f"Download all rows as {label}")


# Cached per person: what one may see is not served to another.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _rows(user: str, artifact_id: UUID, version: int) -> dict[str, Any]:
    client = state.client()
    page = calls.get_version(client, artifact_id, version, 0, PAGE_ROWS)
    table = table_of(page)
    rows = list(table["rows"])
    while page.preview.get("rows") and len(rows) < min(table["row_count"], MAX_SHOWN_ROWS):
        page = calls.get_version(client, artifact_id, version, len(rows), PAGE_ROWS)
        rows += page.preview.get("rows") or []
    return {**table, "rows": rows, "read_rows": len(rows)}
