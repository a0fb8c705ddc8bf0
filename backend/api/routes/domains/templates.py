"""Domains: templates of configuration; changing one does not affect existing sessions."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from backend.agents.check import check_body, check_image
from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Flag, Sent, Text, Whole
from backend.api.http.threads import large
from backend.connections.prices import prices_of
from backend.connections.store import find_default_model
from backend.domains import service as domains
from backend.domains.allowed import Allowed
from backend.domains.prices import Prices
from backend.schemas.domains.configuration import (
    DomainVersion,
    DomainVersionPage,
    Duplicate,
    TemplateCheck,
    VersionEdited,
)
from backend.schemas.domains.templates import Domain, DomainChange, DomainPage, DomainTemplate
from backend.schemas.ids import DomainId
from backend.types import JSON
from backend.usage.ledger import keep_last_name

router = APIRouter(prefix="/domains", tags=["domains"])
Limit = Annotated[Whole, Query(ge=1, le=200)]
Version = Annotated[Whole, Path(ge=1, lt=2**31)]


@router.get("")
@large
def list_domains(
    services: ServicesDep,
    scope: ReadScope,
    limit: Limit = 50,
    cursor: Text | None = None,
    archived: Annotated[Flag | None, Query(description="Absent: all domains.")] = None,
    counted: Annotated[Flag, Query(description="Include the number of sessions of each.")] = False,
) -> DomainPage:
    """One page of domains, by name."""
    with services.database.read() as session:
        return domains.list_domains(
            session, scope, cursor=cursor, limit=limit, archived=archived, counted=counted
        )


@router.post("", status_code=201)
def create_domain(body: Sent[DomainTemplate], services: ServicesDep, scope: ManageScope) -> Domain:
    """Create a domain."""
    check_image(body, Allowed.of(services.settings))
    with services.database.transaction() as session:
        return domains.create(session, scope, body)


@router.post("/check")
def check_domain(body: Sent[JSON], services: ServicesDep, scope: ManageScope) -> TemplateCheck:
    """Check a template: what it would become, or everything that is wrong; nothing is stored."""
    with services.database.read() as session:
        domains.check_edits_some(session, scope)
        default, _ = find_default_model(session, services.settings)
        prices = Prices(default, prices_of(session, services.settings))
    return check_body(body, Allowed.of(services.settings), prices)


@router.get("/{domain_id}")
def get_domain(domain_id: DomainId, services: ServicesDep, scope: ReadScope) -> Domain:
    """One domain."""
    with services.database.read() as session:
        return domains.get(session, scope, domain_id)


@router.patch("/{domain_id}")
def change_domain(
    domain_id: DomainId, body: Sent[DomainChange], services: ServicesDep, scope: ManageScope
) -> Domain:
    """Change a domain for future sessions; archive it, or make it the default."""
    with services.database.transaction() as session:
        changed = domains.change(session, scope, domain_id, body)
        if body.model_fields_set - _NO_CONTENT:
            check_image(domains.template_in(changed), Allowed.of(services.settings))
        return changed


@router.delete("/{domain_id}", status_code=204)
def remove_domain(domain_id: DomainId, services: ServicesDep, scope: ManageScope) -> Response:
    """Delete a domain; its sessions keep their images."""
    with services.database.transaction() as session:
        name = domains.remove(session, scope, domain_id)
        keep_last_name(session, domain_id, name)
    return Response(status_code=204)


@router.post("/{domain_id}/duplicate", status_code=201)
def duplicate_domain(
    domain_id: DomainId, body: Sent[Duplicate], services: ServicesDep, scope: ManageScope
) -> Domain:
    """Create a copy of a domain under another name."""
    with services.database.transaction() as session:
        copied = domains.duplicate(session, scope, domain_id, body.name)
        check_image(domains.template_in(copied), Allowed.of(services.settings))
        return copied


@router.get("/{domain_id}/versions")
@large
def list_versions(
    domain_id: DomainId,
    services: ServicesDep,
    scope: ReadScope,
    limit: Limit = 50,
    before: Annotated[Whole | None, Query(ge=1, lt=2**31)] = None,
) -> DomainVersionPage:
    """One page of a domain's versions, newest first."""
    with services.database.read() as session:
        return domains.list_versions(session, scope, domain_id, before=before, limit=limit)


@router.get("/{domain_id}/versions/{version}")
def get_version(
    domain_id: DomainId, version: Version, services: ServicesDep, scope: ReadScope
) -> DomainVersion:
    """A domain as it was at one version."""
    with services.database.read() as session:
        return domains.get_version(session, scope, domain_id, version)


@router.post("/{domain_id}/versions/{version}/restore")
def restore_version(
    domain_id: DomainId,
    version: Version,
    services: ServicesDep,
    scope: ManageScope,
    body: Sent[VersionEdited] | None = None,
) -> Domain:
    """Restore an earlier version: its content becomes a new version."""
    edited = body.version if body else None
    with services.database.transaction() as session:
        restored = domains.restore(session, scope, domain_id, version, edited)
        check_image(domains.template_in(restored), Allowed.of(services.settings))
        return restored


_NO_CONTENT = {"archived", "is_default", "version"}
