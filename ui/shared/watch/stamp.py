"""What a page shows of things that change elsewhere, in one short text to compare."""

import hashlib
from collections.abc import Sequence

from backend.schemas.conversations.sessions import Session
from backend.schemas.operations.server import ServerInfo

LATEST = 30  # sessions: so many the list reads first
MOST_PINNED = 100


def stamp_of(listed: Sequence[Session], opened: Session | None, server: ServerInfo) -> str:
    """Return the stamp of a page with these sessions, pinned and latest, and the open one."""
    sessions = [*listed, opened] if opened else listed
    rows = [
        (s.id, s.status, s.title, s.pinned, s.archived, s.message_count, s.branch) for s in sessions
    ]
    seen = (rows, list(server.missing), server.pending_approvals)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
