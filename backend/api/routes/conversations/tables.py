"""What a session's messages hold: their tables, whole, and the queries of tool calls."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response

from backend.api.dependencies import ReadScope, ServicesDep
from backend.api.files import RESPONSES as RESULTS
from backend.api.files import TableQuery, table_response
from backend.api.http.sanitize import Whole
from backend.api.http.threads import large
from backend.conversations import reviews
from backend.conversations.messages import get_query, get_table
from backend.schemas.data.queries import LaidOutQuery
from backend.schemas.ids import SessionId
from backend.tabular.sql_text import lay_out

router = APIRouter(prefix="/sessions", tags=["sessions"])


@router.get(
    "/{session_id}/messages/{message_id}/tables/{number}", response_model=None, responses=RESULTS
)
@large
def get_message_table(
    session_id: SessionId,
    message_id: UUID,
    number: Annotated[Whole, Path(ge=1, description="1: its first table.")],
    services: ServicesDep,
    scope: ReadScope,
    asked: TableQuery,
) -> Response | dict[str, Any]:
    """A table of a message, whole: of a tool's result, or of an answer's text; or its chart."""
    with services.database.read() as session:
        table = get_table(session, scope, session_id, message_id, number)
    reviews.note_reading(services.database, scope, session_id)
    return table_response(table, f"table-{message_id}-{number}", asked)


@router.get("/{session_id}/messages/{message_id}/query")
def get_message_query(
    session_id: SessionId, message_id: UUID, services: ServicesDep, scope: ReadScope
) -> LaidOutQuery:
    """The query of a tool call, laid out for reading where it certainly means the same."""
    with services.database.read() as session:
        sql = get_query(session, scope, session_id, message_id)
    reviews.note_reading(services.database, scope, session_id)
    return LaidOutQuery(sql=lay_out(sql))
