"""Sessions: listed, made, changed, deleted, read and followed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse

from backend.api.dependencies import AudiencesDep, ReaderDep, ScopeDep, ServicesDep
from backend.api.events import RESPONSES as EVENTS
from backend.api.events import EventResponse, follow
from backend.api.files import RESPONSES as RESULTS
from backend.api.files import result_response
from backend.api.http import gzip
from backend.api.http.sanitize import Flag, Sent, Text, Whole
from backend.api.http.threads import large
from backend.conversations import service as conversations
from backend.conversations.message_filter import MessageFilter
from backend.conversations.messages import get_result, list_messages
from backend.conversations.service import SessionFilter
from backend.conversations.state.store import load_state
from backend.domains.credentials import mask_template
from backend.domains.template import image_of, template_of
from backend.schemas.conversations.sessions import (
    ContentType,
    MessagePage,
    MessageStatus,
    MessageType,
    NewSession,
    Session,
    SessionChange,
    SessionOrder,
    SessionPage,
)
from backend.schemas.conversations.turns import Turn, TurnPage
from backend.turns.control.stop import delete_session, stop_session
from backend.turns.follow.viewer import Viewer
from backend.turns.history.rebuild import rebuild_session
from backend.turns.queries import list_unfinished, turn_of
from backend.turns.submit.service import open_session

LONGEST_SEARCH = 20_000
router = APIRouter(prefix="/sessions", tags=["sessions"])
STATE_KEYS: dict[str, Any] = {"todos": [], "metadata": {}, "payload": {}, "interrupt": None}
Limit = Annotated[Whole, Query(ge=1, le=200)]


@router.get("")
def list_sessions(
    services: ServicesDep,
    scope: ScopeDep,
    limit: Limit = 50,
    cursor: Text | None = None,
    q: Annotated[
        Text | None,
        Query(description="Words of the title, or their beginnings.", max_length=LONGEST_SEARCH),
    ] = None,
    domain: Annotated[Text | None, Query(description="A domain's name.", min_length=1)] = None,
    status: Literal["idle", "queued", "running", "waiting"] | None = None,
    archived: Flag = False,
    pinned: Flag | None = None,
    everyone: Annotated[
        Literal["mine", "all"], Query(alias="scope", description="`all` is for admins.")
    ] = "mine",
    order_by: Annotated[
        SessionOrder,
        Query(description="`-`: descending. Titles are compared in small letters."),
    ] = SessionOrder.LATEST,
) -> SessionPage:
    """One page of sessions, the latest used first. A cursor belongs to the order it was given in.

    Without `archived` those that are not.
    """
    wanted = SessionFilter(q, domain, status, archived, pinned, everyone == "all", order_by)
    with services.database.read() as session:
        return conversations.list_sessions(session, scope, wanted, cursor=cursor, limit=limit)


@router.post("", status_code=201)
def create_session(
    services: ServicesDep, scope: ScopeDep, body: Sent[NewSession] | None = None
) -> Session:
    """Make an empty session from a domain; without a body from the default one."""
    wanted = body or NewSession()
    with services.database.transaction() as session:
        session_id = open_session(session, scope, wanted.domain, wanted.title)
        return conversations.get(session, scope, session_id)


@router.get("/{session_id}")
def get_session(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> Session:
    """One session."""
    with services.database.read() as session:
        return conversations.get(session, scope, session_id)


@router.patch("/{session_id}")
def change_session(
    session_id: UUID, body: Sent[SessionChange], services: ServicesDep, scope: ScopeDep
) -> Session:
    """Rename, pin or archive a session."""
    with services.database.transaction() as session:
        conversations.change(session, scope, session_id, body)
        return conversations.get(session, scope, session_id)


@router.delete("/{session_id}", status_code=204)
def remove_session(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> Response:
    """Delete a session with all that belongs to it; what runs in it is stopped."""
    delete_session(services, scope, session_id)
    return Response(status_code=204)


@router.post("/{session_id}/stop")
def stop(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> Turn:
    """Stop the running turn; what was said so far stays.

    When it has ended already nothing changes, and the latest turn is given as it is.
    """
    return stop_session(services, scope, session_id)


@router.post("/{session_id}/rebuild")
def rebuild(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> Session:
    """Make what the agent remembers anew from the messages, where it cannot be read any more."""
    rebuild_session(services.database, services.events, scope, session_id)
    with services.database.read() as session:
        return conversations.get(session, scope, session_id)


@router.get("/{session_id}/messages")
@large
def get_messages(
    session_id: UUID,
    services: ServicesDep,
    scope: ScopeDep,
    after: Annotated[Whole | None, Query(ge=0, description="0: from the first.")] = None,
    before: Annotated[Whole | None, Query(ge=1)] = None,
    around: Annotated[
        Whole | None, Query(ge=1, description="A page with this position in its middle.")
    ] = None,
    limit: Limit = 50,
    branch: Annotated[
        Literal["active"] | None, Query(description="Leave out what other branches hold.")
    ] = None,
    content_type: ContentType | None = None,
    message_type: MessageType | None = None,
    status: MessageStatus | None = None,
    agent: Annotated[Text | None, Query(description="An agent's name.", min_length=1)] = None,
    q: Annotated[
        Text | None,
        Query(
            description="A text as it stands in the content: in what was said, in a tool's name,"
            " arguments or result. Capital letters are small ones.",
            max_length=LONGEST_SEARCH,
        ),
    ] = None,
) -> MessagePage:
    """Display messages in ascending position: the latest page, or one after, before or around.

    With filters, those that all of them fit. `after`, `before`, `around` (one of them at most) and
    the cursors are positions in the whole history; a cursor is null where no more messages fit.
    """
    wanted = MessageFilter(content_type, message_type, status, agent, q)
    with services.database.read() as session:
        return list_messages(
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


@router.get("/{session_id}/turns")
def get_unfinished_turns(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> TurnPage:
    """The turns that are not finished, in order: the first one is on, or next."""
    with services.database.read() as session:
        conversations.get(session, scope, session_id)
        rows = list_unfinished(session, session_id)
        return TurnPage(items=[turn_of(session, row) for row in rows])


@router.get("/{session_id}/state")
@large
def get_state(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> dict[str, Any]:
    """The agent state: exactly what the model reads next."""
    with services.database.read() as session:
        conversations.get(session, scope, session_id)
        return {**STATE_KEYS, **load_state(session, session_id).state}


@router.get("/{session_id}/image")
@large
def get_image(session_id: UUID, services: ServicesDep, scope: ScopeDep) -> dict[str, Any]:
    """The configuration that this session was made with: all of it.

    `agents` has those that can be asked; `model` null is the one of the settings. Literal
    credentials of tool servers are masked.
    """
    with services.database.read() as session:
        image = conversations.get_image(session, scope, session_id)
    return image | image_of(mask_template(template_of(image)))  # one of an older version says less


@router.get("/{session_id}/results/{result_id}", response_model=None, responses=RESULTS)
@large
def get_tool_result(
    session_id: UUID,
    result_id: UUID,
    services: ServicesDep,
    scope: ScopeDep,
    format: Literal["json", "csv", "xlsx", "file"] = "json",
) -> Response | dict[str, Any]:
    """What a display message has but the beginning of: a whole table, an image, a file."""
    with services.database.read() as session:
        result = get_result(session, scope, session_id, result_id)
    return result_response(result, result_id, format)


@router.get("/{session_id}/events", response_class=StreamingResponse, responses=EVENTS)
async def get_events(
    session_id: UUID,
    services: ServicesDep,
    reader: ReaderDep,
    channels: AudiencesDep,
    scope: ScopeDep,
    after: Annotated[
        str | None, Query(description="An event's id, or 0 for all that is kept.")
    ] = None,
    last_event_id: Annotated[str | None, Header()] = None,
    accept_encoding: Annotated[str, Header(include_in_schema=False)] = "",
) -> StreamingResponse:
    """Follow a session as Server-Sent Events.

    With `Last-Event-ID` or `after` the stream resumes without gap or repeat; without them it
    begins with the active turn, if there is one, and goes on live. One person has so many streams
    at most (`USER_STREAMS`); beyond them the answer is 429.
    """
    with ExitStack() as stack:
        stack.enter_context(channels.admit(scope))
        viewer = Viewer(services.database, reader, scope, session_id)
        await asyncio.to_thread(viewer.start, last_event_id or after)
        stream: AsyncIterator[bytes] = follow(viewer, channels, session_id)
        headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        if gzip.is_accepted(accept_encoding):
            stream = gzip.compress(stream)
            headers["Content-Encoding"] = "gzip"
        return EventResponse(stream, headers, stack.pop_all())
