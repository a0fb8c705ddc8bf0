"""Inspection: what a session's model reads next, and what models were sent before."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Whole
from backend.api.http.threads import long_read
from backend.conversations.reviews import note_reading
from backend.inspection import calls
from backend.inspection.service import inspect
from backend.schemas.ids import SessionId
from backend.schemas.inspection import Inspection, ModelCallDetails, ModelCallPage

router = APIRouter(prefix="/sessions", tags=["inspection"])
Limit = Annotated[Whole, Query(ge=1, le=100)]
Before = Annotated[Whole | None, Query(ge=1, le=2**62)]


@router.get("/{session_id}/inspection")
@long_read
def get_inspection(
    session_id: SessionId,
    services: ServicesDep,
    scope: ReadScope,
    before: Before = None,
    limit: Limit = 50,
) -> Inspection:
    """The latest display messages, or those before a position, beside what the model reads next.

    Token counts are approximate: four characters each.
    """
    note_reading(services.database, scope, session_id)
    with services.database.read() as session:
        return inspect(session, scope, session_id, before=before, limit=limit)


@router.get("/{session_id}/calls")
@long_read
def list_calls(
    session_id: SessionId,
    services: ServicesDep,
    scope: ReadScope,
    before: Before = None,
    limit: Limit = 50,
) -> ModelCallPage:
    """The requests sent to models, newest first; `before` a version, `limit` counts steps."""
    note_reading(services.database, scope, session_id)
    with services.database.read() as session:
        return calls.list_calls(session, scope, session_id, before=before, limit=limit)


@router.get("/{session_id}/calls/{version}/{number}")
@long_read
def get_call(
    session_id: SessionId,
    version: Annotated[Whole, Path(ge=1, le=2**62)],
    number: Annotated[Whole, Path(ge=1, le=2**30)],
    services: ServicesDep,
    scope: ReadScope,
) -> ModelCallDetails:
    """Exactly what a model was sent, restored from its record."""
    note_reading(services.database, scope, session_id)
    with services.database.read() as session:
        return calls.get_call(session, scope, session_id, version, number)
