"""Tool servers of a domain, for administrators: their state, their tools, and changes to these."""

from uuid import UUID

from fastapi import APIRouter

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.api.http.threads import large, long_wait
from backend.domains import service as domains
from backend.operations.server_checks import check_servers
from backend.schemas.domains.servers import (
    ServersReport,
    ToolVersionDecision,
    ToolVersionPage,
    VersionStatus,
)
from backend.schemas.ids import DomainId
from backend.tools.mcp import version_board

router = APIRouter(prefix="/domains/{domain_id}", tags=["tool servers"])


@router.get("/servers")
@long_wait
def get_servers(domain_id: DomainId, services: ServicesDep, scope: ReadScope) -> ServersReport:
    """Each server as a worker finds it now; takes as long as the slowest one may."""
    return check_servers(services, scope, domain_id)


@router.get("/tool-versions")
@large
def get_tool_versions(
    domain_id: DomainId, services: ServicesDep, scope: ReadScope
) -> ToolVersionPage:
    """The versions of the servers' tools; those that await a decision come first."""
    with services.database.read() as session:
        domains.get(session, scope, domain_id)
        return version_board.list_versions(session, scope, domain_id)


@router.patch("/tool-versions/{version_id}")
def decide_tool_version(
    domain_id: DomainId,
    version_id: UUID,
    body: Sent[ToolVersionDecision],
    services: ServicesDep,
    scope: ManageScope,
) -> ToolVersionPage:
    """Accept or refuse this version of a tool; it applies from the next turn on."""
    with services.database.transaction() as session:
        status = VersionStatus(body.status)
        version_board.decide(session, scope, domain_id, version_id, status)
        return version_board.list_versions(session, scope, domain_id)
