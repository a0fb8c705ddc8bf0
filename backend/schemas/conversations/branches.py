"""The wire contract of branches: the versions of a message, and which of them is shown."""

from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import Field, model_validator

from backend.schemas.conversations.sessions import ChatRequest
from backend.schemas.wire import Input, Wire


class MessageEdit(ChatRequest):
    """A rewritten message: it is answered on a new branch, which leaves out what followed it."""


class BranchChoice(Input):
    """Which branch to show: of those that contain this turn, the one shown most recently.

    Or the one with this number. One of both has to be given.
    """

    turn_id: UUID | None = None
    branch: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _check_that_one_is_given(self) -> Self:
        if (self.turn_id is None) is (self.branch is None):
            raise ValueError("Give either a turn or the number of a branch.")
        return self


class MessageVersion(Wire):
    """One version of a message: the turn that it started, and its position."""

    turn_id: UUID
    position: int
    is_active: bool = Field(description="It is on the active branch.")
    created_at: datetime


class MessageVersions(Wire):
    """The versions of one message, oldest first."""

    versions: list[MessageVersion]


class Branches(Wire):
    """Where a session was forked. `branch` is null and `items` is empty if it never was."""

    branch: int | None
    items: list[MessageVersions]
    left: int | None = Field(
        None,
        description="While the active branch is empty, because the session was cleared: the branch"
        " that was shown before. `POST …/branch` with its number shows it again.",
    )
