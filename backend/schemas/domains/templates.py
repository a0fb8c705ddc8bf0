"""The wire contract of domains: what a template contains, and therefore a session's image."""

import re
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, computed_field

from backend.schemas.bounds import (
    AgentName,
    Cost,
    Days,
    Description,
    Entries,
    Fit,
    ModelName,
    ModelOrDefault,
    Name,
    Prompt,
    Setting,
    Some,
    Suggestion,
    Tokens,
)
from backend.schemas.ids import Kind, with_prefix
from backend.schemas.wire import Change, Input, Wire
from backend.types import JSON

NAMED = re.compile(r"\$\{(\w+)\}")  # a secret's name in a server's settings


class _Patience(Input):
    """How long to wait for an MCP server."""

    connect_seconds: float | None = Field(
        None, gt=0, le=600, description="To connect; absent: MCP_CONNECT_SECONDS of the settings."
    )
    call_seconds: float | None = Field(
        None, gt=0, le=86_400, description="For one call's result; absent: `tool_seconds`."
    )


class StreamableHttpServer(_Patience):
    """An MCP server reached over HTTP; `${NAME}` in url and headers names a worker's secret."""

    transport: Literal["streamable_http"]
    url: Setting
    headers: Entries[dict[str, Setting]] = {}


class StdioServer(_Patience):
    """An MCP server that the worker starts as a process; `${NAME}` in args and env likewise."""

    transport: Literal["stdio"]
    command: Setting
    args: Entries[list[Setting]] = []
    env: Entries[dict[str, Setting]] = {}


Policies = Annotated[list[str | JSON], Fit]
McpServer = Annotated[StreamableHttpServer | StdioServer, Field(discriminator="transport")]


class AgentTemplate(Input):
    """One agent of a domain."""

    name: AgentName
    description: Description = ""
    system_prompt: Prompt = ""
    model: ModelOrDefault = None
    tools: list[str] | None = Field(
        None, description="Names of tools; absent: all of the domain's."
    )
    middleware: Policies | None = Field(None, description="Absent: the domain's.")
    roles: Some[list[str]] | None = Field(None, description="Roles that may use it; absent: all.")


class ManagerTemplate(Input):
    """The agent for messages to no other agent: it answers, asks, delegates and plans."""

    name: AgentName = "Sage"
    description: Description = ""
    system_prompt: Prompt = ""
    model: ModelOrDefault = None
    tools: list[str] = Field([], description="Names of tools that it may call; absent: none.")
    middleware: Policies | None = Field(None, description="Absent: the domain's.")
    recent_messages: int = Field(
        20, ge=1, le=200, description="How many of the newest messages each agent receives."
    )
    continuity_model: ModelOrDefault = Field(
        None, description="Decides whether a message continues with its agent; absent: `model`."
    )
    continuity_seconds: float = Field(
        10, gt=0, le=60, description="Time limit of that decision; then the manager decides."
    )
    artifact_characters: int = Field(
        20_000, ge=0, le=500_000, description="Artifact text put in messages; tools read the rest."
    )
    approve_plans: bool = Field(False, description="A person approves each plan before it runs.")


class Limits(Input):
    """The most that one turn may use, its session in total, and its domain in a month (UTC)."""

    steps: int = Field(200, ge=1, le=10_000, description="Steps of one turn.")
    turn_seconds: int = Field(14_400, ge=1, le=604_800, description="Seconds of one turn.")
    tokens: Tokens | None = Field(None, description="Tokens of one turn, in and out together.")
    cost: Cost | None = Field(None, description="Cost of one turn, by the models' prices.")
    tool_seconds: int = Field(
        600, ge=1, le=86_400, description="Seconds of one tool call, after which it is abandoned."
    )
    conversation_tokens: Tokens | None = Field(
        None, description="Tokens of all turns of one session together."
    )
    conversation_cost: Cost | None = Field(
        None, description="Cost of all turns of one session together."
    )
    domain_tokens_per_month: Tokens | None = Field(
        None, description="Tokens of all sessions of the domain in a month."
    )
    domain_cost_per_month: Cost | None = Field(
        None, description="Cost of all sessions of the domain in a month."
    )


class DomainTemplate(Input):
    """A domain's configuration, from which the image of a new session is copied."""

    name: Name = Field(examples=["finance"])
    description: Description = ""
    model: ModelOrDefault = Field(
        None, description="A chat model's name; absent: the installation's default model."
    )
    models: Entries[list[ModelName]] = Field(
        default=[],
        description="Other models that people may choose for a message; `model` stays the default.",
        examples=[["gpt-4o-mini", "o3"]],
    )
    system_prompt: Prompt = ""
    tools: list[str] | None = Field(
        None,
        description="Built-in tools by name. Absent: all of them; those for documents only where"
        " there are documents, those that keep artifacts only with a manager, or where an agent"
        " names one.",
    )
    mcp_servers: Entries[dict[str, McpServer]] = Field(
        default={},
        examples=[{"ledger": {"transport": "streamable_http", "url": "http://127.0.0.1:9000/mcp"}}],
    )
    agents: list[AgentTemplate] = []
    manager: ManagerTemplate | None = Field(
        None, description="Absent: a message goes to the first agent, unless it is sent to another."
    )
    middleware: Policies = Field(
        default=[], description="Policies by name, or `{name: {setting: value}}`, in order."
    )
    limits: Limits = Limits()
    suggestions: Entries[list[Suggestion]] = Field(
        default=[], description="Questions suggested on the page of a new chat."
    )
    retention_days: Days | None = Field(
        None, description="Sessions unused for this many days are deleted; absent: the settings'."
    )


class DomainChange(Change):
    """The changes to a domain; absent fields stay unchanged. Existing sessions are not affected."""

    name: Name = ""
    description: Description = ""
    model: ModelName | None = None
    models: Entries[list[ModelName]] = []
    system_prompt: Prompt = ""
    tools: list[str] | None = None
    mcp_servers: Entries[dict[str, McpServer]] = {}
    agents: list[AgentTemplate] = []
    manager: ManagerTemplate | None = None
    middleware: Policies = []
    limits: Limits = Limits()
    suggestions: Entries[list[Suggestion]] = []
    retention_days: Days | None = None
    is_default: bool = Field(
        False, description="True: make it the default for new sessions; false only if it is not."
    )
    archived: bool = Field(False, description="True: accept no new sessions; false: accept them.")
    version: int | None = Field(
        None, description="The version that was edited; 409 if there is a newer one."
    )


class Domain(DomainTemplate):
    """A stored domain. `sessions`: how many were made from it, if requested."""

    id: UUID
    version: int
    is_default: bool
    archived: bool = False
    sessions: int | None = None
    created_at: datetime
    updated_at: datetime

    @computed_field  # type: ignore[prop-decorator]  # pydantic's own way
    @property
    def prefixed_id(self) -> str:
        """The same id as `id`, behind its prefix; either form is accepted."""
        return with_prefix(Kind.DOMAIN, self.id)


class DomainPage(Wire):
    """One page of domains, by name."""

    items: list[Domain]
    next_cursor: str | None
