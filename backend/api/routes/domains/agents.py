"""Agents that the caller may write to: in a session, in a domain, and in all domains."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.agents.roster import list_agents
from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import large
from backend.auth.rights import read_rights
from backend.conversations import service as conversations
from backend.domains import service as domains
from backend.domains.team import without_models
from backend.domains.template import template_of
from backend.schemas.domains.agents import AgentList, AgentPage, DomainAgents
from backend.schemas.ids import DomainId, SessionId
from backend.schemas.people.rights import Resource

router = APIRouter(tags=["agents"])


@router.get("/agents")
@large
def get_agents(
    services: ServicesDep,
    scope: ReadScope,
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
    cursor: Text | None = None,
) -> AgentPage:
    """One page of domains that accept new sessions, with the agents open to the caller."""
    with services.database.read() as session:
        page = domains.list_domains(session, scope, cursor=cursor, limit=limit, archived=False)
        withheld = read_rights(session, scope).withheld_of(Resource.MODEL)
    items = [
        DomainAgents(
            domain_id=domain.id,
            domain=domain.name,
            description=domain.description,
            is_default=domain.is_default,
            agents=list_agents(scope, without_models(domain, withheld)),
        )
        for domain in page.items
    ]
    return AgentPage(items=items, next_cursor=page.next_cursor)


@router.get("/domains/{domain_id}/agents")
def get_domain_agents(domain_id: DomainId, services: ServicesDep, scope: ReadScope) -> AgentList:
    """The agents that the caller may write to in new sessions of a domain."""
    with services.database.read() as session:
        domain = domains.get(session, scope, domain_id)
        withheld = read_rights(session, scope).withheld_of(Resource.MODEL)
    return AgentList(items=list_agents(scope, without_models(domain, withheld)))


@router.get("/sessions/{session_id}/agents")
def get_session_agents(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> AgentList:
    """The agents that the caller may write to in a session."""
    with services.database.read() as session:
        image = conversations.get_image(session, scope, session_id)
        withheld = read_rights(session, scope).withheld_of(Resource.MODEL)
    return AgentList(items=list_agents(scope, without_models(template_of(image), withheld)))
