"""The wire contract: what the API takes and gives; pages import nothing else of the backend."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

JSON = dict[str, Any]
MAX_MESSAGE_CHARS = 2_000_000
MAX_TITLE_CHARS = 200


class TurnStatus(StrEnum):
    """Where a turn stands: queued -> running <-> waiting -> succeeded, failed or stopped."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"


class MessageType(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class ContentType(StrEnum):
    """What kind of content a display message holds."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TODOS = "todos"
    ARTIFACT = "artifact"
    IMAGE = "image"
    FILE = "file"
    INTERRUPT = "interrupt"
    NOTICE = "notice"
    ERROR = "error"


class MessageStatus(StrEnum):
    """How far a display message has come; it only moves forward."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


class EventName(StrEnum):
    """The kinds of events that a session's stream carries."""

    TURN_QUEUED = "turn_queued"
    TURN_STARTED = "turn_started"
    TEXT_DELTA = "text_delta"
    THINKING_DELTA = "thinking_delta"
    MESSAGE_ADDED = "message_added"
    MESSAGE_UPDATED = "message_updated"
    TODOS_UPDATED = "todos_updated"
    PROGRESS = "progress"
    RESET = "reset"
    INTERRUPT = "interrupt"
    TURN_FINISHED = "turn_finished"


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChatRequest(_Wire):
    """A person's message to a session's agent."""

    message: str = Field(examples=["What's the budget for CC-1001?"])
    agent: str | None = Field(None, description="The agent to ask; default: the session's first.")


class NewChatRequest(ChatRequest):
    """A person's message; without `session_id` a new session is made for it."""

    session_id: UUID | None = None
    domain: str | None = Field(None, description="A domain's name or id, for a new session.")


class ChatResponse(_Wire):
    """What became of a message; `response` is null until the turn has ended."""

    session_id: UUID
    turn_id: UUID
    status: TurnStatus
    response: str | None = Field(examples=["CC-1001 has a budget of 1,200,000 EUR for 2026."])
    agent: str = Field(examples=["assistant"])


class NewSession(_Wire):
    """A session to be made."""

    title: str | None = None
    domain: str | None = Field(
        None, description="A domain's name or id; default: the default domain."
    )


class SessionChange(_Wire):
    """What a person may change of a session; absent fields stay as they are."""

    title: str | None = None
    pinned: bool | None = None
    archived: bool | None = None


class Session(_Wire):
    """A conversation, as people see it."""

    id: UUID
    title: str
    domain: str
    domain_id: UUID | None
    image_id: UUID
    status: TurnStatus | Literal["idle"]
    pinned: bool
    archived: bool
    message_count: int
    owner: str
    created_at: datetime
    updated_at: datetime


class SessionPage(_Wire):
    """One page of sessions, newest first."""

    items: list[Session]
    next_cursor: str | None


class DisplayMessage(_Wire):
    """One piece of content on the screen."""

    id: UUID
    position: int
    message_type: MessageType
    content_type: ContentType
    content: JSON
    sequence: int
    status: MessageStatus
    agent: str | None
    turn_id: UUID | None
    created_at: datetime
    metadata: JSON


class MessagePage(_Wire):
    """One page of display messages, in ascending position; a null cursor: there is no more."""

    items: list[DisplayMessage]
    next_before: int | None
    next_after: int | None


class ErrorSummary(_Wire):
    """Why a turn failed, in words for a person."""

    title: str
    detail: str


class Usage(_Wire):
    """Tokens that a turn has used."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    model_calls: int = 0


class Turn(_Wire):
    """The work that one message asks for. `message` is what was asked."""

    id: UUID
    session_id: UUID
    status: TurnStatus
    agent: str
    message: str
    attempts: int
    steps: int
    usage: Usage
    error: ErrorSummary | None
    queue_position: int | None = Field(
        description="Turns of this session before it; null unless queued."
    )
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class TurnPage(_Wire):
    """The turns of a session that are not finished, in order."""

    items: list[Turn]


class EventContext(_Wire):
    """Where an event belongs."""

    domain_id: UUID | None
    session_id: UUID
    image_id: UUID
    agent_id: str
    turn_id: UUID


class StreamableHttpServer(_Wire):
    """An MCP server reached over HTTP; `${NAME}` is taken from the worker's environment."""

    transport: Literal["streamable_http"]
    url: str
    headers: dict[str, str] = {}


class StdioServer(_Wire):
    """An MCP server started by the worker as a child process."""

    transport: Literal["stdio"]
    command: str
    args: list[str] = []
    env: dict[str, str] = {}


McpServer = Annotated[StreamableHttpServer | StdioServer, Field(discriminator="transport")]


class AgentTemplate(_Wire):
    """One agent of a domain."""

    name: str = Field(min_length=1, max_length=80, pattern=r"^[A-Za-z][\w-]*$")
    description: str = ""
    system_prompt: str = ""
    model: str | None = None
    tools: list[str] | None = Field(
        None, description="Names of tools; absent: all of the domain's."
    )
    middleware: list[str | JSON] | None = Field(None, description="Absent: the domain's.")
    roles: list[str] | None = Field(None, description="Roles that may ask it; absent: all.")


class Limits(_Wire):
    """What one turn may use at most."""

    steps: int = Field(200, ge=1, le=10_000, description="Steps of one turn.")
    turn_seconds: int = Field(14_400, ge=1, le=604_800, description="Seconds of one turn.")
    tokens: int | None = Field(None, ge=1, description="Tokens of one turn, in and out together.")
    tool_seconds: int = Field(
        600, ge=1, le=86_400, description="Seconds of one tool call; then it is given up."
    )


class DomainTemplate(_Wire):
    """A domain's configuration: what a new session's image is copied from."""

    name: str = Field(min_length=1, max_length=80, examples=["finance"])
    description: str = ""
    model: str | None = Field(
        None, description="A chat model's name; absent: MODEL of the settings."
    )
    system_prompt: str = ""
    tools: list[str] | None = Field(
        None, description="Built-in tools by name; absent: all of them."
    )
    mcp_servers: dict[str, McpServer] = Field(
        default={},
        examples=[{"ledger": {"transport": "streamable_http", "url": "http://127.0.0.1:9000/mcp"}}],
    )
    agents: list[AgentTemplate] = []
    manager: JSON | None = None
    middleware: list[str | JSON] = Field(
        default=[], description="Policies by name, or `{name: {setting: value}}`, in order."
    )
    limits: Limits = Limits()


class DomainChange(_Wire):
    """What to change of a domain; absent fields stay. No existing session is touched."""

    name: str | None = Field(None, min_length=1, max_length=80)
    description: str | None = None
    model: str | None = None
    system_prompt: str | None = None
    tools: list[str] | None = None
    mcp_servers: dict[str, McpServer] | None = None
    agents: list[AgentTemplate] | None = None
    manager: JSON | None = None
    middleware: list[str | JSON] | None = None
    limits: Limits | None = None
    is_default: bool | None = None


class Domain(DomainTemplate):
    """A stored domain."""

    id: UUID
    version: int
    is_default: bool
    created_at: datetime
    updated_at: datetime


class DomainPage(_Wire):
    """One page of domains, by name."""

    items: list[Domain]
    next_cursor: str | None


class ServerInfo(_Wire):
    """What a page must know of the server: who asks, and which model answers."""

    user: str
    is_admin: bool
    model: str
    is_demo_model: bool
    ready: bool
    workers: int


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None
