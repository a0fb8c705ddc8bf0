"""What a browser tab has open beside a session: the list of artifacts, or one artifact."""

from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from backend.markdown.cells import ARTIFACT, COLUMN, ROW, Target, read_target

LIST = "list"  # in the URL: the list instead of an artifact
MEMORY = "artifact-panels"


@dataclass
class Panel:
    """One session's panel; `target` None: the list. `openings` counts how often it was opened."""

    is_open: bool = False
    target: Target | None = None
    problem: str = ""
    openings: int = 0
    has_followed: bool = False

    def open(self, target: Target | None, problem: str = "") -> None:
        """Show an artifact, or the list."""
        self.is_open, self.target, self.problem = True, target, problem
        self.openings += 1


def panel_of(session_id: UUID) -> Panel:
    """Return a session's panel; on first use, it is open if the URL says so."""
    panels: dict[UUID, Panel] = st.session_state.setdefault(MEMORY, {})
    panel = panels.setdefault(session_id, Panel())
    if not panel.has_followed:
        panel.has_followed = True
        follow(panel, st.query_params.to_dict())
    return panel


def follow(panel: Panel, query: dict[str, str]) -> None:
    """Open what a link names, if anything."""
    if not (shown := query.get(ARTIFACT)):
        return
    target = read_target(query)
    is_list = shown == LIST
    panel.open(target, "" if target or is_list else "This link does not point to an artifact.")


def close(panel: Panel) -> None:
    """Close the panel, in a callback, and remove it from the URL."""
    panel.is_open = False
    for name in (ARTIFACT, ROW, COLUMN):
        st.query_params.pop(name, None)
