"""Where a table comes from, and how to get all its rows and its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import streamlit as st

from backend.tabular.csv_text import csv_of
from backend.tabular.workbook import workbook_of
from ui import navigation, state
from ui.features.results import calls
from ui.features.results.calls import Format

KEPT_SECONDS, MAX_KEPT = 60, 10
Table = Mapping[str, Any]


class Origin(Protocol):
    """What can be read of a table beyond the rows on the page."""

    def whole(self) -> Table:
        """Return all rows. Raise ClientError."""

    def file(self, format: Format) -> bytes:
        """Return all rows as a file; on failure, the reason as its text."""


@dataclass(frozen=True)
class InlineTable:
    """A table whose rows are all on the page."""

    table: Table

    def whole(self) -> Table:
        """Return the table."""
        return self.table

    def file(self, format: Format) -> bytes:
        """Return it as a file."""
        table = dict(self.table)
        return csv_of(table).encode() if format == "csv" else workbook_of(table)


@dataclass(frozen=True)
class Stored:
    """A tool result of which the page has the first rows."""

    path: str

    def whole(self) -> Table:
        """Return the stored table, which never changes."""
        return _stored(state.server().user, self.path)

    def file(self, format: Format) -> bytes:
        """Return it as a file."""
        return calls.stored_file(state.client(), self.path, format)


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

    def file(self, format: Format) -> bytes:
        """Return all rows as a file."""
        asked = (self.session_id, self.source, self.sql, format)
        return calls.query_file(state.client(), *asked)


def origin_of(table: Table, session_id: UUID) -> Origin:
    """Return the origin of a tool result's table."""
    result_id = table.get("result_id")
    if not result_id:
        return InlineTable(table)
    return Stored(navigation.result_path(session_id, str(result_id)))


# Cached per person: what one may see is not served to another.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _stored(user: str, path: str) -> dict[str, Any]:
    return calls.stored_table(state.client(), path)
