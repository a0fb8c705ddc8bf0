"""The audit trail, for administrators."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.sanitize import Text, Whole
from backend.api.http.threads import long_read, stream_long
from backend.operations import audit_trail
from backend.operations.audit_trail import AuditFilter
from backend.schemas.operations.audit import AuditKinds, AuditPage

router = APIRouter(prefix="/audit", tags=["audit"])
LONGEST = 500
Value = Annotated[Text | None, Query(max_length=LONGEST)]
Actor = Annotated[
    Text | None, Query(description="An id, or a part of a name or login.", max_length=LONGEST)
]
Since = Annotated[AwareDatetime | None, Query(description="The first moment, with an offset.")]
Until = Annotated[AwareDatetime | None, Query(description="The moment after the last one.")]
TEXT: dict[str, Any] = {"schema": {"type": "string"}}
EXPORTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All events that match, streamed as an attachment.",
        "content": {"text/csv": TEXT, "application/x-ndjson": TEXT},
    }
}
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@router.get("")
def list_events(
    services: ServicesDep,
    scope: ReadScope,
    actor: Actor = None,
    action: Value = None,
    subject: Value = None,
    subject_id: Value = None,
    since: Since = None,
    until: Until = None,
    cursor: Annotated[Text | None, Query(max_length=1_000)] = None,
    limit: Annotated[Whole, Query(ge=1, le=audit_trail.MAX_PAGE)] = 50,
) -> AuditPage:
    """Who did what, newest first. Events are never changed or deleted, and hold no content."""
    wanted = AuditFilter(actor, action, subject, subject_id, since, until)
    with services.database.read() as session:
        return audit_trail.list_events(session, scope, wanted, cursor=cursor, limit=limit)


@router.get("/kinds")
def list_kinds(services: ServicesDep, scope: ReadScope) -> AuditKinds:
    """The actions and subjects that there are, to filter by."""
    with services.database.read() as session:
        return audit_trail.list_kinds(session, scope)


@router.get("/export", response_class=Response, responses=EXPORTS)
@long_read
def export_events(
    services: ServicesDep,
    scope: ReadScope,
    format: Literal["csv", "jsonl"] = "csv",
    actor: Actor = None,
    action: Value = None,
    subject: Value = None,
    subject_id: Value = None,
    since: Since = None,
    until: Until = None,
) -> Response:
    """All events that match, as CSV or as lines of JSON; this is recorded, too."""
    wanted = AuditFilter(actor, action, subject, subject_id, since, until)
    pieces = audit_trail.export_events(services.database, scope, wanted, format)
    headers = {"Content-Disposition": f'attachment; filename="audit.{format}"'}
    return StreamingResponse(stream_long(pieces), media_type=MEDIA_TYPES[format], headers=headers)
