"""Where a table comes from, and how to get all its rows and its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import streamlit as st

from ui import state
from ui.features.results import calls
from ui.features.results.calls import Format
from ui.shared import downloads
from ui.shared.tables import file_name

KEPT_SECONDS, MAX_KEPT = 60, 10
Table = Mapping[str, Any]


class Origin(Protocol):
    """What can be read of a table beyond the rows on the page."""

    def whole(self) -> Table:
        """Return all rows. Raise ClientError."""

    def offer(self, label: str, format: Format, key: str) -> None:
        """Draw what saves all rows as a file."""


@dataclass(frozen=True)
class Stored:
    """A tool result of which the page has the first rows."""

    path: str

    def whole(self) -> Table:
        """Return the stored table, which never changes."""
        return _stored(state.server().user, self.path)

    def offer(self, label: str, format: Format, key: str) -> None:
        """Draw the link to it."""
        downloads.link(label, self.path, {"format": format}, f"Download all rows as {label}")


@dataclass(frozen=True)
class OwnQueryResult:
    """The result of a person's own query: the first rows are kept; for files it runs again."""

    session_id: UUID
    source: str
    sql: str
    first: Table

    def whole(self) -> Table:
        """Return the kept rows."""
        return self.first

    def offer(self, label: str, format: Format, key: str) -> None:
        """Draw the button that runs the query again."""
        downloads.answer(
            label,
            f"sessions/{self.session_id}/query",
            {"format": format},
            {"source": self.source, "sql": self.sql},
            file_name(self.first.get("title"), format),
            key,
            f"Download all rows as {label}",
        )


# Cached per person: what one may see is not served to another.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _stored(user: str, path: str) -> dict[str, Any]:
    return calls.stored_table(state.client(), path)
