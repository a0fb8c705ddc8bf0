"""Calls about agents."""

from uuid import UUID

from backend.schemas.domains.agents import AgentList, AgentPage
from ui.client import Client

PAGE = 50  # domains


def list_agents(client: Client, cursor: str | None) -> AgentPage:
    """Return a page of domains with their agents."""
    return client.get(AgentPage, "agents", limit=PAGE, cursor=cursor)


def domain_agents(client: Client, domain_id: UUID) -> AgentList:
    """Return the agents of a domain."""
    return client.get(AgentList, f"domains/{domain_id}/agents")


def session_agents(client: Client, session_id: UUID) -> AgentList:
    """Return the agents of a session."""
    return client.get(AgentList, f"sessions/{session_id}/agents")
