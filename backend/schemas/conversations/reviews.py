"""The wire contract of reviews: who reads somebody else's session, and why."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire

MAX_REASON_CHARS = 500


class NewReview(Input):
    """Why the caller wants to read somebody else's session; its owner will see this."""

    reason: str = Field(
        "", max_length=MAX_REASON_CHARS, description="May be empty with REVIEW=on only."
    )


class Review(Wire):
    """One review: it permits its reviewer to read the session until `ends_at`."""

    id: UUID
    reviewer: str
    reviewer_name: str = Field(description="The reviewer's name today.")
    reason: str
    begun_at: datetime
    ends_at: datetime


class Reviews(Wire):
    """The reviews of a session, the latest first."""

    items: list[Review]
