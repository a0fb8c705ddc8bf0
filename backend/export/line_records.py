"""The records of Colloquy's own JSON Lines: one model per kind of line, each a row of a table.

Their fields are the columns that are written and read again. What is not here neither leaves nor
comes in: owners, teams, rights, links, feedback, approvals, plans, and who worked on a turn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy import Table

from backend.schemas.artifacts import ArtifactKind
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.wire import Wire
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.models.conversations.agent_state import AgentStateDeltaRow, AgentStateRow, SentContentRow
from db.models.conversations.branch import BranchRow
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow
from db.models.file import FileRow
from db.models.turns.turn import TurnRow

VERSION = 1
HEAD = "colloquy"  # the first key of a session's first line
END = "end"
MOST_CONTENT = 20_000_000  # bytes of a file or an artifact's content in a line
LONGEST_LINE = 64 << 20
Ranges = list[tuple[int, int | None]]


class SessionLine(Wire):
    """A session, with the configuration that it was made with."""

    id: UUID
    title: str = Field(max_length=200)
    domain_name: str = Field(max_length=200)
    domain_version: int | None
    image_id: UUID
    image: JSON
    version: int = Field(ge=1, le=2**31 - 1)
    pinned: bool
    archived: bool
    model: str | None
    branch: int = Field(ge=1, le=2**31 - 1)
    path: Ranges | None
    metadata: JSON
    created_at: datetime
    updated_at: datetime


class TurnLine(Wire):
    """A turn that has ended."""

    id: UUID
    agent: str
    message: str
    message_position: int | None
    status: Literal["succeeded", "failed", "stopped"]
    steps: int = Field(ge=0, le=1_000_000)
    usage: JSON
    error: JSON | None
    state_version: int | None
    fork_of: UUID | None
    model: str | None
    route: JSON | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class ResultLine(Wire):
    """A tool's whole table, a picture or a file that a message names."""

    id: UUID
    result: JSON
    created_at: datetime


class SentLine(Wire):
    """A content that a model was sent."""

    hash: str
    content: Any


class DeltaLine(Wire):
    """What one step changed in the agent state."""

    version: int
    delta: JSON
    calls: list[Any] | None


class StateLine(Wire):
    """The snapshot of the agent state."""

    version: int
    state_data: JSON


class BranchLine(Wire):
    """A branch that was left."""

    number: int = Field(ge=1, le=2**31 - 1)
    path: Ranges
    state_version: int


class ArtifactLine(Wire):
    """An artifact."""

    id: UUID
    kind: ArtifactKind
    title: str
    version: int
    created_at: datetime


class VersionLine(Wire):
    """A version of an artifact; `content` in Base64, null if it is too large for a line."""

    artifact_id: UUID
    version: int
    title: str
    agent: str | None
    turn_id: UUID | None
    message_id: str | None
    hash: str
    media_type: str
    size: int
    preview: JSON
    origin: JSON
    created_at: datetime
    content: str | None


class FileLine(Wire):
    """A file of the session; `content` in Base64, null if it is too large for a line."""

    id: UUID
    name: str
    size: int
    sha256: str
    corrections: JSON
    created_at: datetime
    content: str | None


@dataclass(frozen=True)
class Kind:
    """A kind of line: its table, and the columns that order its rows."""

    model: type[Wire]
    table: Any
    order: Sequence[str]
    content: bool = False  # whether `content` is written apart from the row

    @property
    def columns(self) -> list[str]:
        """The columns of the table that a line has."""
        return [name for name in self.model.model_fields if name != "content" or not self.content]

    @property
    def rows(self) -> Table:
        """The table."""
        table: Table = self.table.__table__
        return table


# In the order of the lines.
KINDS: Mapping[str, Kind] = {
    "turn": Kind(TurnLine, TurnRow, ("number",)),
    "result": Kind(ResultLine, ToolResultRow, ("created_at", "id")),
    "message": Kind(DisplayMessage, DisplayMessageRow, ("position",)),
    "sent": Kind(SentLine, SentContentRow, ("hash",)),
    "delta": Kind(DeltaLine, AgentStateDeltaRow, ("version",)),
    "state": Kind(StateLine, AgentStateRow, ("version",)),
    "branch": Kind(BranchLine, BranchRow, ("number",)),
    "artifact": Kind(ArtifactLine, ArtifactRow, ("created_at", "id")),
    "artifact_version": Kind(
        VersionLine, ArtifactVersionRow, ("created_at", "artifact_id", "version"), content=True
    ),
    "file": Kind(FileLine, FileRow, ("created_at", "id"), content=True),
}
