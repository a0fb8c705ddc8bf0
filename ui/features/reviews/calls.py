"""API calls of reviews: begin one, and see who reviewed a session."""

from uuid import UUID

from backend.schemas.conversations.reviews import Review, Reviews
from ui.client import Client


def begin(client: Client, session_id: UUID, reason: str) -> Review:
    """Begin to read somebody else's session, for an hour."""
    return client.call(Review, "POST", f"sessions/{session_id}/reviews", json={"reason": reason})


def list_reviews(client: Client, session_id: UUID) -> list[Review]:
    """Return who reviewed a session of one's own, the latest first."""
    return client.get(Reviews, f"sessions/{session_id}/reviews").items
