"""What the page Data remembers: the open source, previews, messages to show once."""

from dataclasses import dataclass, field
from uuid import UUID

import streamlit as st

from backend.schemas.data.files import FilePreview
from ui.client import ClientError

FILE, SOURCE = "file", "source"
_STATE = "data-page"


@dataclass
class DataPageState:
    """One tab's memory of the page."""

    cursors: list[str] = field(default_factory=list)
    preview: FilePreview | None = None
    preview_of: UUID | None = None
    problem: ClientError | None = None


def data_page_state() -> DataPageState:
    """Return the memory of the tab that this run belongs to."""
    found: DataPageState = st.session_state.setdefault(_STATE, DataPageState())
    return found


def open_file() -> UUID | None:
    """Return the file that the URL names."""
    try:
        return UUID(st.query_params.get(FILE, ""))
    except ValueError:
        return None


def open_source() -> str | None:
    """Return the source that the URL names."""
    return st.query_params.get(SOURCE) or None


def show_file(file_id: UUID) -> None:
    """Open a file, in a callback."""
    _forget_trials()
    st.query_params.from_dict({FILE: str(file_id)})


def show_source(name: str) -> None:
    """Open a source, in a callback."""
    st.query_params.from_dict({SOURCE: name})


def show_all() -> None:
    """Go back to the list, in a callback."""
    _forget_trials()
    st.query_params.clear()


def _forget_trials() -> None:
    held = data_page_state()
    held.preview = held.preview_of = held.problem = None
