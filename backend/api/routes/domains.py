"""Domains: templates of configuration; a change touches no existing session."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from backend.agents.check import check_image
from backend.api.dependencies import ScopeDep, ServicesDep
from backend.domains import service as domains
from backend.schemas.domains import Domain, DomainChange, DomainPage, DomainTemplate

router = APIRouter(prefix="/domains", tags=["domains"])


@router.get("")
def list_domains(
    services: ServicesDep,
    scope: ScopeDep,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: str | None = None,
) -> DomainPage:
    """One page of domains, by name."""
    with services.database.read() as session:
        return domains.list_domains(session, scope, cursor=cursor, limit=limit)


@router.post("", status_code=201)
def create_domain(body: DomainTemplate, services: ServicesDep, scope: ScopeDep) -> Domain:
    """Store a new domain."""
    check_image(body)
    with services.database.transaction() as session:
        return domains.create(session, scope, body)


@router.get("/{domain_id}")
def get_domain(domain_id: UUID, services: ServicesDep, scope: ScopeDep) -> Domain:
    """One domain."""
    with services.database.read() as session:
        return domains.get(session, scope, domain_id)


@router.patch("/{domain_id}")
def change_domain(
    domain_id: UUID, body: DomainChange, services: ServicesDep, scope: ScopeDep
) -> Domain:
    """Change a domain for the sessions to come."""
    with services.database.transaction() as session:
        changed = domains.change(session, scope, domain_id, body)
        check_image(DomainTemplate.model_validate(changed.model_dump(include=_TEMPLATE)))
        return changed


@router.delete("/{domain_id}", status_code=204)
def remove_domain(domain_id: UUID, services: ServicesDep, scope: ScopeDep) -> Response:
    """Delete a domain; its sessions go on with their images."""
    with services.database.transaction() as session:
        domains.remove(session, scope, domain_id)
    return Response(status_code=204)


_TEMPLATE = set(DomainTemplate.model_fields)
