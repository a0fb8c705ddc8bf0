"""The wire contract of agents as people see them: who there is, what for, and with which tools."""

from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class AgentInfo(Wire):
    """An agent that the caller may write to."""

    name: str = Field(examples=["Reconciler"])
    description: str
    is_manager: bool = Field(description="It takes what is for no other agent.")
    tools: list[str] = Field(
        description="Names of its tools; those that `servers` bring are not among them."
    )
    servers: list[str] = Field(description="Tool servers of which it has all tools.")
    roles: list[str] | None = Field(description="Roles that may ask it; null: all.")
    model: str | None = Field(description="The model that it asks; null: the installation's.")


class AgentList(Wire):
    """The agents that the caller may write to: the manager first, where there is one."""

    items: list[AgentInfo]


class DomainAgents(Wire):
    """A domain with those of its agents that the caller may write to."""

    domain_id: UUID
    domain: str = Field(description="The domain's name.")
    description: str
    is_default: bool
    agents: list[AgentInfo]


class AgentPage(Wire):
    """One page of domains that take new sessions, by name, each with its agents."""

    items: list[DomainAgents]
    next_cursor: str | None
