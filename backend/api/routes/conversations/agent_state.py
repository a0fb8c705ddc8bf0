"""The agent state of a session: read, and written back."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from pydantic_core import to_json

from backend.api.dependencies import AskScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text
from backend.api.http.threads import large
from backend.conversations import reviews
from backend.conversations import service as conversations
from backend.conversations.state.store import load_state
from backend.schemas.ids import SessionId
from backend.turns.history.write_state import ABSENT, tag_of, write_state
from colloquy_kit.messages.todos import with_ids

router = APIRouter(prefix="/sessions", tags=["sessions"])
_TAG = {"ETag": {"description": "Of this version of the state.", "schema": {"type": "string"}}}
READ: dict[int | str, dict[str, Any]] = {200: {"headers": _TAG}}
WRITTEN: dict[int | str, dict[str, Any]] = {
    204: {"description": "It is what the model reads next.", "headers": _TAG}
}
IfMatch = Annotated[
    Text | None,
    Header(
        alias="If-Match",
        description="The `ETag` with which the state was read. 412 if it has changed since, 428"
        " without one.",
    ),
]


@router.get("/{session_id}/state", response_model=dict[str, Any], responses=READ)
@large
def get_state(session_id: SessionId, services: ServicesDep, scope: ReadScope) -> Response:
    """The agent state: exactly what the model reads next, and the ids of its todos.

    Its `ETag` is needed to write it back; `version` is that of its format.
    """
    with services.database.read() as session:
        conversations.check_visible(session, scope, session_id)
        stored = load_state(session, session_id)
    reviews.note_reading(services.database, scope, session_id)
    state = {**ABSENT, **stored.state}
    state["todos"] = with_ids(state["todos"])
    written = to_json(state, inf_nan_mode="null")
    headers = {"ETag": tag_of(stored.version)}
    return Response(written, headers=headers, media_type="application/json")


@router.put("/{session_id}/state", status_code=204, responses=WRITTEN)
@large
def put_state(
    session_id: SessionId,
    body: Sent[dict[str, Any]],
    services: ServicesDep,
    scope: AskScope,
    if_match: IfMatch = None,
) -> Response:
    """Write an agent state back that was read and changed: the model reads it from now on.

    It must be one that a model accepts as it is: each call with its result behind it, nothing to be
    repaired; else 422 names the first message that is wrong. Display messages do not change; a
    notice says who did it, and the audit trail records it. 409 while a turn runs or waits.
    """
    version = write_state(services.database, services.events, scope, session_id, body, if_match)
    return Response(status_code=204, headers={"ETag": tag_of(version)})
