"""The sessions of everyone as a file, for reviewers."""

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.http.threads import long_read, stream_long
from backend.api.routes.conversations.wanted import WantedSessions
from backend.export import session_table

router = APIRouter(prefix="/sessions", tags=["sessions"])
FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "All that match, streamed as an attachment.",
        "content": {"text/csv": {"schema": {"type": "string"}}},
    }
}


@router.get("/csv", response_class=Response, responses=FILE)
@long_read
def list_as_csv(services: ServicesDep, scope: ReadScope, wanted: WantedSessions) -> Response:
    """The sessions that match, with their figures, as CSV; at most 10,000, and it says if cut."""
    lines = session_table.write_csv(services.database, scope, wanted)
    headers = {"Content-Disposition": 'attachment; filename="sessions.csv"'}
    return StreamingResponse(
        stream_long(lines), media_type="text/csv; charset=utf-8", headers=headers
    )
