"""Dry runs of unsaved domains: which tool servers answer, and what a model would be sent."""

from fastapi import APIRouter

from backend.api.dependencies import ManageScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.api.http.threads import long_wait
from backend.operations.server_checks import try_request, try_servers
from backend.schemas.domains.dry_runs import FirstRequest, RequestTrial, ServersTrial
from backend.schemas.domains.servers import ServersReport

router = APIRouter(prefix="/domains/check", tags=["domains"])


@router.post("/servers")
@long_wait
def check_draft_servers(
    body: Sent[ServersTrial], services: ServicesDep, scope: ManageScope
) -> ServersReport:
    """Each tool server of an unsaved domain, as a worker finds it now.

    Nothing is stored. It takes as long as the slowest server may take to connect.
    """
    return try_servers(services, scope, body)


@router.post("/request")
@long_wait
def show_first_request(
    body: Sent[RequestTrial], services: ServicesDep, scope: ManageScope
) -> FirstRequest:
    """Exactly what an unsaved domain would first send its model for a question.

    No model is called and nothing is stored; tool servers are connected to, as in a turn.
    """
    return try_request(services, scope, body)
