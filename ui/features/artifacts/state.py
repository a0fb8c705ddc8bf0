"""What a browser tab has open in the panel beside the chat, as its conversation has asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import streamlit as st

from backend.markdown.cells import ARTIFACT, COLUMN, ROW, Target, read_target

LISTED, TABLE, QUERY, CLOSED = "artifacts", "table", "query", "close"
MEMORY = "panel"


@dataclass
class Panel:
    """`kind` is one of those above, ARTIFACT, or empty while the panel is closed.

    `openings` counts how often something was opened from the chat: then the focus moves here.
    """

    kind: str = ""
    session_id: UUID | None = None
    target: Target | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    openings: int = 0

    def take(self, asked: Mapping[str, Any]) -> None:
        """Open what was asked for, or close the panel."""
        self.kind = "" if asked.get("kind") == CLOSED else str(asked["kind"])
        if not self.kind:
            return
        self.session_id, self.asked = UUID(str(asked["session"])), asked
        self.target = _target(asked) if self.kind == ARTIFACT else None
        self.openings += 1

    def open(self, target: Target | None) -> None:
        """Show an artifact, or the list; called by what stands in the panel itself."""
        self.kind, self.target = ARTIFACT if target else LISTED, target

    def close(self) -> None:
        """Close it."""
        self.kind = ""


def panel_of_tab() -> Panel:
    """Return the panel of this tab."""
    panel: Panel = st.session_state.setdefault(MEMORY, Panel())
    return panel


def _target(asked: Mapping[str, Any]) -> Target | None:
    version = f"@{asked['version']}" if asked.get("version") else ""
    place = {name: str(asked[name]) for name in (ROW, COLUMN) if asked.get(name)}
    return read_target({ARTIFACT: f"{asked.get('artifact')}{version}", **place})
