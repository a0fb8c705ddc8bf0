"""The wire contract of branches: other versions of a message, and which of them is shown."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.sessions import ChatRequest
from backend.schemas.wire import Input, Wire


class MessageEdit(ChatRequest):
    """A message in other words: what follows the edited one is answered anew, on a new branch."""


class BranchChoice(Input):
    """Which branch to show: the one that was last left, of those that have this turn."""

    turn_id: UUID


class MessageVersion(Wire):
    """One version of a message: the turn that it began, and where it stands."""

    turn_id: UUID
    position: int
    is_active: bool = Field(description="The active branch has it.")
    created_at: datetime


class MessageVersions(Wire):
    """The versions of one message, in the order in which they were made."""

    versions: list[MessageVersion]


class Branches(Wire):
    """Where a session was forked. `branch` is null, and there are no items, where it was not."""

    branch: int | None
    items: list[MessageVersions]
