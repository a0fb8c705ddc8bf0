"""The state that a page shows and that may change elsewhere, as one short text to compare."""

import hashlib
from collections.abc import Sequence

from backend.schemas.conversations.sessions import Session
from backend.schemas.operations.server import ServerInfo
from ui.shared.watch.lists import Row, mark_of

LATEST = 30  # sessions that the list reads first
MOST_PINNED = 100


def stamp_of(
    sessions: Sequence[Session],
    opened: Session | None,
    server: ServerInfo,
    rows: Sequence[Row] = (),
) -> str:
    """Return the stamp of a page with these sessions, pinned and latest, and the open one.

    `rows`: those of the page's own list.
    """
    sessions = [*sessions, opened] if opened else sessions
    stands = [
        (
            s.id,
            s.status,
            s.waits_for,
            s.title,
            s.pinned,
            s.archived,
            s.message_count,
            s.branch,
            s.rights,
            s.team,
            s.review_count,
        )
        for s in sessions
    ]
    marks = [mark_of(row) for row in rows]
    waiting = (server.pending_approvals, server.pending_tools)
    seen = (stands, list(server.missing), waiting, marks)
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
