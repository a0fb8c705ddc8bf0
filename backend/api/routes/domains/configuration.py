"""A session's configuration compared to its current domain, and what domains may name."""

from fastapi import APIRouter

from backend.agents.catalog import list_catalog
from backend.api.dependencies import AskScope, IdempotencyKey, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent
from backend.auth.rights import read_rights
from backend.connections.prices import prices_of
from backend.connections.store import find_default_model
from backend.conversations import service as conversations
from backend.conversations.configuration import get_drift
from backend.domains.allowed import Allowed
from backend.schemas.conversations.sessions import Session
from backend.schemas.domains.configuration import Catalog, ContinueRequest, Drift
from backend.schemas.ids import SessionId
from backend.turns.history.continue_session import continue_session

router = APIRouter(tags=["configuration"])


@router.get("/catalog")
def get_catalog(services: ServicesDep, scope: ReadScope) -> Catalog:
    """What a domain may name: tools, middleware and its settings, models, secrets."""
    with services.database.read() as session:
        model, _ = find_default_model(session, services.settings)
        rights = read_rights(session, scope)
        prices = prices_of(session, services.settings)
    return list_catalog(services.settings, model, prices, rights)


@router.get("/sessions/{session_id}/drift")
def get_session_drift(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Drift:
    """How the session's configuration differs from its domain today."""
    with services.database.read() as session:
        return get_drift(session, scope, session_id, Allowed.of(services.settings))


@router.post("/sessions/{session_id}/continue", status_code=201)
def continue_in_a_new_session(
    session_id: SessionId,
    services: ServicesDep,
    scope: AskScope,
    body: Sent[ContinueRequest] | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Session:
    """Continue in a new session with today's configuration; this session stays as it is."""
    domain = body.domain if body else None
    new_id = continue_session(services, scope, session_id, domain, idempotency_key)
    with services.database.read() as session:
        return conversations.get(session, scope, new_id)
