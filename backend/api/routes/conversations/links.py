"""Read-only links to sessions: made and revoked by the owner, opened by anyone who has one."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.files import RESPONSES as RESULTS
from backend.api.files import TableQuery, result_response, table_response
from backend.api.http.sanitize import Sent, Text, Whole
from backend.api.http.threads import large
from backend.conversations import links
from backend.conversations.messages import (
    get_query,
    get_result,
    get_table,
    list_messages,
    with_kinds,
)
from backend.schemas.conversations.links import (
    LinkToMake,
    NewSessionLink,
    SessionLink,
    SessionLinks,
    SharedSession,
)
from backend.schemas.conversations.sessions import MessagePage
from backend.schemas.data.queries import LaidOutQuery
from backend.schemas.ids import SessionId
from backend.tabular.sql_text import lay_out

router = APIRouter(tags=["links"])
Token = Annotated[Text, Path(min_length=1, max_length=200)]


@router.post("/sessions/{session_id}/links", status_code=201)
def make_link(
    session_id: SessionId,
    services: ServicesDep,
    scope: AskScope,
    body: Sent[LinkToMake] | None = None,
) -> NewSessionLink:
    """Make a link by which other users of the installation can read this session; owner only.

    It ends after so many days, when it is revoked, and when who made it is disabled.
    """
    wanted = body or LinkToMake()
    with services.database.transaction() as session:
        return links.make_link(session, scope, session_id, wanted.days)


@router.get("/sessions/{session_id}/links")
def list_links(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> SessionLinks:
    """All links to this session, including those that have ended; owner only."""
    with services.database.read() as session:
        return links.list_links(session, scope, session_id)


@router.delete("/sessions/{session_id}/links/{link_id}")
def revoke_link(
    session_id: SessionId, link_id: UUID, services: ServicesDep, scope: AskScope
) -> SessionLink:
    """Revoke a link permanently; returns it with the time of its revocation."""
    with services.database.transaction() as session:
        return links.revoke_link(session, scope, session_id, link_id)


@router.get("/shared/{token}")
def get_shared_session(token: Token, services: ServicesDep, caller: ReadScope) -> SharedSession:
    """The session that a link opens, to anybody who is signed in; 410 once the link has ended."""
    with services.database.read() as session:
        return links.open_link(session, token)[1]


@router.get("/shared/{token}/messages")
@large
def get_shared_messages(
    token: Token,
    services: ServicesDep,
    caller: ReadScope,
    after: Annotated[Whole | None, Query(ge=0, description="0: from the first message.")] = None,
    before: Annotated[Whole | None, Query(ge=1)] = None,
    limit: Annotated[Whole, Query(ge=1, le=200)] = 50,
) -> MessagePage:
    """Messages of the shared session's active branch, by ascending position."""
    with services.database.read() as session:
        scope, shared = links.open_link(session, token)
        page = list_messages(
            session, scope, shared.id, after=after, before=before, limit=limit, of_branch=True
        )
    return with_kinds(page)


@router.get("/shared/{token}/results/{result_id}", response_model=None, responses=RESULTS)
@large
def get_shared_result(
    token: Token,
    result_id: UUID,
    services: ServicesDep,
    caller: ReadScope,
    format: Literal["json", "csv", "xlsx", "file"] = "json",
) -> Response | dict[str, Any]:
    """A whole result of which its message holds only the beginning: a table, an image, a file."""
    with services.database.read() as session:
        scope, shared = links.open_link(session, token)
        result = get_result(session, scope, shared.id, result_id)
    return result_response(result, result_id, format)


@router.get(
    "/shared/{token}/messages/{message_id}/tables/{number}",
    response_model=None,
    responses=RESULTS,
)
@large
def get_shared_table(
    token: Token,
    message_id: UUID,
    number: Annotated[Whole, Path(ge=1, description="1: its first table.")],
    services: ServicesDep,
    caller: ReadScope,
    asked: TableQuery,
) -> Response | dict[str, Any]:
    """A table of a message, whole: of a tool's result, or of an answer's text; or its chart."""
    with services.database.read() as session:
        scope, shared = links.open_link(session, token)
        table = get_table(session, scope, shared.id, message_id, number)
    return table_response(table, f"table-{message_id}-{number}", asked)


@router.get("/shared/{token}/messages/{message_id}/query")
def get_shared_query(
    token: Token, message_id: UUID, services: ServicesDep, caller: ReadScope
) -> LaidOutQuery:
    """The query of a tool call, laid out for reading where it certainly means the same."""
    with services.database.read() as session:
        scope, shared = links.open_link(session, token)
        sql = get_query(session, scope, shared.id, message_id)
    return LaidOutQuery(sql=lay_out(sql))
