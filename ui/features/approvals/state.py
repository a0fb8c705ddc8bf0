"""What one browser tab remembers about approvals: decisions being written, and outcomes.

The texts are those of the fields; they are kept while other pages are open.
"""

from dataclasses import dataclass, field
from uuid import UUID

import streamlit as st

from backend.schemas.approvals import Approval, DecisionType
from ui.client import ClientError

EVERYONE = "inbox-everyone"
_DECIDING = "deciding"


@dataclass
class Deciding:
    """One call: the decision being written, what is wrong with it, and how it ended."""

    kind: DecisionType | None = None
    errors: dict[str, str] = field(default_factory=dict)
    problem: ClientError | None = None
    ended: Approval | None = None


@dataclass
class InboxState:
    """All decisions of this tab, and its place in the inbox."""

    calls: dict[UUID, Deciding] = field(default_factory=dict)
    cursors: list[str] = field(default_factory=list)


def inbox_state() -> InboxState:
    """Return the inbox state of the tab that this run belongs to."""
    found = st.session_state.get(_DECIDING)
    if not isinstance(found, InboxState):
        found = st.session_state[_DECIDING] = InboxState()
    return found


def deciding(approval_id: UUID) -> Deciding:
    """Return this tab's state of one call."""
    return inbox_state().calls.setdefault(approval_id, Deciding())


def typed(key: str, default: str = "") -> str:
    """Return the text of a field; the default where it was never drawn."""
    return str(st.session_state.get(key, default))


def is_ticked(key: str) -> bool:
    """Return whether a box is ticked."""
    return bool(st.session_state.get(key))
