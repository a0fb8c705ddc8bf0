"""Chat: a message in, a turn out; answered at once or when the turn has ended."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Response
from sqlalchemy.orm import Session

from backend.api.arriving import Sent
from backend.api.dependencies import IdempotencyKey, ReaderDep, ScopeDep, ServicesDep
from backend.auth.scope import Scope
from backend.conversations.messages import last_answer
from backend.errors import InvalidInput
from backend.schemas.sessions import ChatRequest, ChatResponse, NewChatRequest, Turn, TurnStatus
from backend.turns import service as turns
from backend.turns.follow import EventReader, wait_until
from backend.turns.lifecycle import is_finished
from backend.turns.rows import find_turn, list_unfinished, turn_of
from backend.turns.service import Ask
from backend.turns.services import Services

router = APIRouter(tags=["chat"])

DEFAULT_WAIT_SECONDS = 60.0
MAX_WAIT_SECONDS = 600.0

Prefer = Annotated[
    str | None,
    Header(description="`respond-async`: answer 202 at once. `wait=N`: wait N seconds at most."),
]
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": ChatResponse, "description": "Accepted; the turn goes on by itself."}
}


@router.post("/chat", responses=ACCEPTED)
def chat(
    body: Sent[NewChatRequest],
    response: Response,
    services: ServicesDep,
    reader: ReaderDep,
    scope: ScopeDep,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> ChatResponse:
    """Continue a session, or start one."""
    ask = Ask(body.message, body.session_id, body.domain, body.agent, idempotency_key)
    return _answer(services, reader, scope, ask, prefer, response)


@router.post("/sessions/{session_id}/chat", responses=ACCEPTED)
def chat_in_session(
    session_id: UUID,
    body: Sent[ChatRequest],
    response: Response,
    services: ServicesDep,
    reader: ReaderDep,
    scope: ScopeDep,
    prefer: Prefer = None,
    idempotency_key: IdempotencyKey = None,
) -> ChatResponse:
    """Continue this session."""
    ask = Ask(body.message, session_id, None, body.agent, idempotency_key)
    return _answer(services, reader, scope, ask, prefer, response)


def wait_seconds(prefer: str | None) -> float:
    """How long a client wants to wait, from its Prefer header (RFC 7240). Raises InvalidInput."""
    seconds = DEFAULT_WAIT_SECONDS
    for preference in (prefer or "").replace(";", ",").split(","):
        name, _, value = map(str.strip, preference.partition("="))
        if name.lower() == "respond-async":
            return 0.0
        if name.lower() == "wait":
            value = value[1:-1] if value[:1] == value[-1:] == '"' else value
            if not (value.isascii() and value.isdigit()):
                raise InvalidInput("Prefer: wait=N takes a whole number of seconds.")
            seconds = min(float(value), MAX_WAIT_SECONDS)
    return seconds


def _answer(
    services: Services,
    reader: EventReader,
    scope: Scope,
    ask: Ask,
    prefer: str | None,
    response: Response,
) -> ChatResponse:
    seconds = wait_seconds(prefer)
    turn = turns.submit(services, scope, ask)
    latest = [turn]

    def is_done() -> bool:
        with services.database.read() as session:
            latest[0] = turn_of(session, find_turn(session, scope, turn.id))
            return _has_said_all(session, latest[0])

    if not is_finished(turn.status) and seconds:
        wait_until(reader, turn.session_id, is_done, seconds)
    if is_finished(latest[0].status):
        return _response(services, scope, latest[0])
    response.status_code = 202
    response.headers["Location"] = f"/api/v1/turns/{turn.id}"
    return _response(services, scope, latest[0])


def _has_said_all(session: Session, turn: Turn) -> bool:
    """Whether to wait on would be in vain: it has ended, or it, or one before it, asks people."""
    if turn.status is TurnStatus.QUEUED:
        first = list_unfinished(session, turn.session_id)[:1]
        return any(row.status == TurnStatus.WAITING for row in first)
    return turn.status is TurnStatus.WAITING or is_finished(turn.status)


def _response(services: Services, scope: Scope, turn: Turn) -> ChatResponse:
    said = None
    if is_finished(turn.status):
        with services.database.read() as session:
            since = find_turn(session, scope, turn.id).message_position
            if since is not None:
                said = last_answer(session, turn.session_id, turn.id, since)
    return ChatResponse(
        session_id=turn.session_id,
        turn_id=turn.id,
        status=turn.status,
        response=said,
        agent=turn.agent,
    )
