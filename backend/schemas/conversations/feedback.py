"""The wire contract of feedback: what people think of answers."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire

MAX_COMMENT_CHARS = 2_000


class Rating(StrEnum):
    """Whether a person found an answer good."""

    UP = "up"
    DOWN = "down"


class NewFeedback(Input):
    """A rating of a turn's answer, and why; it replaces one's earlier one."""

    rating: Rating
    comment: str = Field("", max_length=MAX_COMMENT_CHARS)


class Feedback(Wire):
    """What one person thinks of a turn's answer."""

    rating: Rating
    comment: str
    created_at: datetime


class GivenFeedback(Feedback):
    """One person's feedback, where it belongs and whose it is."""

    turn_id: UUID
    session_id: UUID
    user_id: str
    name: str = Field(description="The name of the person.")


class FeedbackPage(Wire):
    """A keyset page of feedback, the latest first; `up` and `down` count all that was asked for."""

    items: list[GivenFeedback]
    up: int
    down: int
    next_cursor: str | None
