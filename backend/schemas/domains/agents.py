"""The wire contract of agents as people see them: name, purpose and tools."""

from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class AgentInfo(Wire):
    """An agent that the caller may write to."""

    name: str = Field(examples=["Reconciler"])
    description: str
    is_manager: bool = Field(description="It handles messages that no other agent is asked for.")
    tools: list[str] = Field(
        description="Names of its tools, without those of its tool servers (see `servers`). Those"
        " for documents it has only where there are documents."
    )
    servers: list[str] = Field(description="Tool servers whose tools it has.")
    roles: list[str] | None = Field(description="Roles that may use it; null: all.")
    model: str | None = Field(description="Its model; null: the installation's default.")


class AgentList(Wire):
    """The agents that the caller may write to, the manager first if there is one."""

    items: list[AgentInfo]


class DomainAgents(Wire):
    """A domain with the agents that the caller may write to."""

    domain_id: UUID
    domain: str = Field(description="The domain's name.")
    description: str
    is_default: bool
    agents: list[AgentInfo]


class AgentPage(Wire):
    """One page of domains that accept new sessions, by name, each with its agents."""

    items: list[DomainAgents]
    next_cursor: str | None
