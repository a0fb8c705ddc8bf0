"""Sessions: list, create, change, delete, read and follow them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse, StreamingResponse

from backend.api.dependencies import (
    AccessDep,
    AskScope,
    ChannelsDep,
    GivenToken,
    ReaderDep,
    ReadScope,
    ServicesDep,
    Unattended,
)
from backend.api.events import RESPONSES as EVENTS
from backend.api.events import EventResponse, follow
from backend.api.files import RESPONSES as RESULTS
from backend.api.files import result_response
from backend.api.http import gzip
from backend.api.http.sanitize import Sent, Text, Whole
from backend.api.http.threads import large
from backend.api.routes.conversations.wanted import WantedSessions
from backend.conversations import accesses, reviews
from backend.conversations import service as conversations
from backend.conversations.message_filter import MessageFilter
from backend.conversations.messages import get_result, list_messages, with_kinds
from backend.domains.template import image_of, template_of
from backend.schemas.conversations.sessions import (
    MAX_DELETION_SECONDS,
    MessagePage,
    NewSession,
    Session,
    SessionChange,
    SessionPage,
)
from backend.schemas.conversations.turns import Turn, TurnPage
from backend.schemas.ids import SessionId
from backend.turns.control.delete import delete_later, delete_session, keep_session
from backend.turns.control.stop import stop_session
from backend.turns.follow.viewer import Viewer
from backend.turns.history.rebuild import rebuild_session
from backend.turns.queries import list_unfinished, turn_of
from backend.turns.submit.service import open_session
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

LONGEST_SEARCH = 20_000
router = APIRouter(prefix="/sessions", tags=["sessions"])
Limit = Annotated[Whole, Query(ge=1, le=200)]
DELETED_LATER: dict[int | str, dict[str, Any]] = {
    "202": {"model": Session, "description": "It will be deleted; until then this can be undone."}
}


@router.get("")
def list_sessions(
    services: ServicesDep,
    scope: ReadScope,
    wanted: WantedSessions,
    limit: Limit = 50,
    cursor: Text | None = None,
) -> SessionPage:
    """One page of sessions, most recently used first. A cursor is valid for its own order only.

    `archived` selects archived sessions instead of the others.
    """
    with services.database.read() as session:
        return conversations.list_sessions(session, scope, wanted, cursor=cursor, limit=limit)


@router.post("", status_code=201)
def create_session(
    services: ServicesDep, scope: AskScope, body: Sent[NewSession] | None = None
) -> Session:
    """Create an empty session from a domain; without a body, from the default domain."""
    wanted = body or NewSession()
    with services.database.transaction() as session:
        session_id = open_session(session, scope, wanted.domain, wanted.title, team=wanted.team)
        return conversations.get(session, scope, session_id)


@router.get("/{session_id}")
def get_session(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Session:
    """One session. 403 if it is somebody else's whom the caller may review with a reason."""
    return reviews.read_session(services.database, scope, session_id)


@router.patch("/{session_id}")
def change_session(
    session_id: SessionId, body: Sent[SessionChange], services: ServicesDep, scope: AskScope
) -> Session:
    """Rename, pin or archive a session, or give it to a team or back to its owner."""
    with services.database.transaction() as session:
        conversations.change(session, scope, session_id, body)
        return conversations.get(session, scope, session_id)


@router.delete("/{session_id}", status_code=204, responses=DELETED_LATER)
def remove_session(
    session_id: SessionId,
    services: ServicesDep,
    scope: AskScope,
    after_seconds: Annotated[
        Whole,
        Query(
            ge=0,
            le=MAX_DELETION_SECONDS,
            description="Delete it after so many seconds; absent or 0: at once.",
        ),
    ] = 0,
) -> Response:
    """Delete a session and everything in it; a running turn is stopped.

    With `after_seconds` the answer is 202. The session then leaves all lists at once, its turns run
    on until it is deleted, and `undelete` keeps it; its `deletes_at` says when it is too late.
    """
    if not after_seconds:
        delete_session(services, scope, session_id)
        return Response(status_code=204)
    leaving = delete_later(services, scope, session_id, after_seconds)
    return JSONResponse(leaving.model_dump(mode="json"), status_code=202)


@router.post("/{session_id}/undelete")
def undelete(session_id: SessionId, services: ServicesDep, scope: AskScope) -> Session:
    """Keep a session that was to be deleted; 404 once its time has come."""
    return keep_session(services, scope, session_id)


@router.post("/{session_id}/stop")
def stop(session_id: SessionId, services: ServicesDep, scope: AskScope) -> Turn:
    """Stop the running turn; everything said so far is kept.

    If no turn is running, nothing changes, and the latest turn is returned.
    """
    return stop_session(services, scope, session_id)


@router.post("/{session_id}/rebuild")
def rebuild(session_id: SessionId, services: ServicesDep, scope: AskScope) -> Session:
    """Rebuild an unreadable agent state from the session's messages."""
    rebuild_session(services.database, services.events, scope, session_id)
    with services.database.read() as session:
        return conversations.get(session, scope, session_id)


@router.get("/{session_id}/messages")
@large
def get_messages(
    session_id: SessionId,
    services: ServicesDep,
    scope: ReadScope,
    after: Annotated[Whole | None, Query(ge=0, description="0: from the first message.")] = None,
    before: Annotated[Whole | None, Query(ge=1)] = None,
    around: Annotated[
        Whole | None, Query(ge=1, description="A page with this position in the middle.")
    ] = None,
    limit: Limit = 50,
    branch: Annotated[
        Literal["active"] | None, Query(description="Only messages of the active branch.")
    ] = None,
    content_type: ContentType | None = None,
    message_type: MessageType | None = None,
    status: MessageStatus | None = None,
    agent: Annotated[Text | None, Query(description="An agent's name.", min_length=1)] = None,
    q: Annotated[
        Text | None,
        Query(
            description="A text that the content contains: in what was said, or in a tool's name,"
            " arguments or result. Case is ignored.",
            max_length=LONGEST_SEARCH,
        ),
    ] = None,
    unattended: Unattended = None,
) -> MessagePage:
    """Display messages by ascending position: the latest page, or one after, before or around.

    Filters are combined. `after`, `before`, `around` (at most one of them) and the cursors are
    positions in the whole history; a cursor is null if no more messages match.
    """
    wanted = MessageFilter(content_type, message_type, status, agent, q)
    with services.database.read() as session:
        page = list_messages(
            session,
            scope,
            session_id,
            wanted,
            after=after,
            before=before,
            around=around,
            limit=limit,
            of_branch=branch is not None,
        )
        is_access = unattended is None and accesses.is_due(session, scope, session_id)
    if is_access:
        accesses.note(services.database, scope, session_id)
    reviews.note_reading(services.database, scope, session_id)
    return with_kinds(page)


@router.get("/{session_id}/turns")
def get_unfinished_turns(
    session_id: SessionId, services: ServicesDep, scope: ReadScope
) -> TurnPage:
    """The unfinished turns in order; the first is running, or next."""
    # Pages read them beside the session, with which a review begins.
    reviews.begin_unasked(services.database, scope, session_id)
    with services.database.read() as session:
        conversations.check_visible(session, scope, session_id)
        rows = list_unfinished(session, session_id)
        return TurnPage(items=[turn_of(session, row) for row in rows])


@router.get("/{session_id}/image")
@large
def get_image(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> dict[str, Any]:
    """The complete configuration that this session was created with.

    `agents` lists those that can be asked; a null `model` is the one in the settings.
    """
    with services.database.read() as session:
        image = conversations.get_image(session, scope, session_id)
    return image | image_of(template_of(image))  # adds fields that domains have had only since then


@router.get("/{session_id}/results/{result_id}", response_model=None, responses=RESULTS)
@large
def get_tool_result(
    session_id: SessionId,
    result_id: UUID,
    services: ServicesDep,
    scope: ReadScope,
    format: Literal["json", "csv", "xlsx", "file"] = "json",
) -> Response | dict[str, Any]:
    """A whole result of which its message holds only the beginning: a table, an image, a file."""
    with services.database.read() as session:
        result = get_result(session, scope, session_id, result_id)
    reviews.note_reading(services.database, scope, session_id)
    return result_response(result, result_id, format)


@router.get("/{session_id}/events", response_class=StreamingResponse, responses=EVENTS)
async def get_events(
    session_id: SessionId,
    services: ServicesDep,
    reader: ReaderDep,
    channels: ChannelsDep,
    access: AccessDep,
    token: GivenToken,
    scope: ReadScope,
    after: Annotated[
        str | None, Query(description="An event's id, or 0 for all events that are kept.")
    ] = None,
    last_event_id: Annotated[str | None, Header()] = None,
    accept_encoding: Annotated[str, Header(include_in_schema=False)] = "",
) -> StreamingResponse:
    """Follow a session as Server-Sent Events.

    With `Last-Event-ID` or `after` the stream resumes without gaps or repeats; otherwise it begins
    with the active turn, if there is one, and continues live. A person may have `USER_STREAMS`
    streams open; further ones are refused with 429.
    """
    with ExitStack() as stack:
        stack.enter_context(channels.admit(scope))
        viewer = Viewer(services.database, reader, scope, session_id)
        await asyncio.to_thread(viewer.start, last_event_id or after)
        request = stack.enter_context(access.held(token, scope, session_id))
        stream: AsyncIterator[bytes] = follow(viewer, channels, request)
        headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        if gzip.is_accepted(accept_encoding):
            stream = gzip.compress(stream)
            headers["Content-Encoding"] = "gzip"
        return EventResponse(stream, headers, stack.pop_all())
