"""The wire contract of tool servers: their availability, their tools, and changes to these."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire
from backend.types import JSON


class VersionStatus(StrEnum):
    """Whether a tool may be used as its server describes it."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    REFUSED = "refused"


class ServerTool(Wire):
    """A tool that a server currently offers. `called`: its name for models."""

    name: str
    called: str
    description: str
    input_schema: JSON
    effect: Literal["read_only", "idempotent", "acts"]
    status: VersionStatus


class ServerReport(Wire):
    """The result of connecting to one server of a domain just now."""

    name: str
    transport: Literal["stdio", "streamable_http"]
    answers: bool
    seconds: float = Field(description="Seconds until its tools were listed, or it failed.")
    problem: str | None = Field(None, description="Why it cannot be used.")
    paused_seconds: float = Field(
        0.0, description="How much longer turns of the reporting worker will skip the server."
    )
    notices: list[str] = Field([], description="Which of its tools no turn can use, and why.")
    tools: list[ServerTool] = []


class ServersReport(Wire):
    """The servers of a domain as seen by one worker, named in `worker`."""

    worker: str
    items: list[ServerReport]


class ToolVersion(Wire):
    """A server's description of a tool, first seen at `seen_at`.

    `before` is the version accepted before it, if any.
    """

    id: UUID
    server: str
    tool: str
    status: VersionStatus
    description: JSON
    before: JSON | None
    seen_at: datetime
    decided_by: str | None
    decided_at: datetime | None


class ToolVersionPage(Wire):
    """Versions of a domain's tools: pending ones first, then the newest.

    At most 500 are listed; `pending` and `decided` count all.
    """

    items: list[ToolVersion]
    pending: int
    decided: int


class ToolVersionDecision(Input):
    """Whether this version of a tool may be used."""

    status: Literal["accepted", "refused"]
