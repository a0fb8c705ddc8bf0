"""API calls of reviews."""

from uuid import UUID

from backend.schemas.conversations.reviews import Review
from ui.client import Client


def begin(client: Client, session_id: UUID, reason: str) -> Review:
    """Begin to read somebody else's session, for an hour."""
    return client.call(Review, "POST", f"sessions/{session_id}/reviews", json={"reason": reason})
