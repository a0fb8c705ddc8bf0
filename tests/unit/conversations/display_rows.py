"""Display messages for tests that look at their content only."""

from datetime import UTC, datetime
from uuid import uuid4

from backend.schemas.conversations.sessions import DisplayMessage


def row(position: int, content: dict) -> DisplayMessage:
    """A completed display message."""
    return DisplayMessage(
        id=uuid4(), position=position, message_type="assistant", content_type="text",
        content=content, sequence=0, status="completed", agent=None, turn_id=None,
        created_at=datetime.now(UTC), metadata={},
    )  # fmt: skip
