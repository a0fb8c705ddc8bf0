"""The wire contract of tool servers: whether they answer, what they offer, what has changed."""

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire
from backend.types import JSON


class VersionStatus(StrEnum):
    """Whether a tool is used as its server describes it."""

    ACCEPTED = "accepted"
    PENDING = "pending"
    REFUSED = "refused"


class ServerTool(Wire):
    """A tool that a server offers now. `called`: the name by which models call it."""

    name: str
    called: str
    description: str
    input_schema: JSON
    effect: Literal["read_only", "idempotent", "acts"]
    status: VersionStatus


class ServerReport(Wire):
    """What became of connecting to one server of a domain, just now."""

    name: str
    transport: Literal["stdio", "streamable_http"]
    answers: bool
    seconds: float = Field(description="Until its tools were listed, or until it had failed.")
    problem: str | None = Field(None, description="Why it cannot be used.")
    paused_seconds: float = Field(
        0.0, description="How long turns of the worker that was asked left it alone still."
    )
    tools: list[ServerTool] = []


class ServersReport(Wire):
    """The servers of a domain as one worker finds them. `worker`: which one."""

    worker: str
    items: list[ServerReport]


class ToolVersion(Wire):
    """What a server says of a tool, as it was first seen at `seen_at`.

    `before` is what was accepted before it, if anything was.
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
    """Versions of a domain's tools: those that wait for a decision first, then the newest."""

    items: list[ToolVersion]
    pending: int


class ToolVersionDecision(Input):
    """Whether a tool may be used in this version."""

    status: Literal["accepted", "refused"]
