"""Chat: a message starts a turn; the response comes immediately or when the turn has ended."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, Response
from starlette.concurrency import run_in_threadpool

from backend.api.access import Access
from backend.api.dependencies import (
    AccessDep,
    AskScope,
    GivenToken,
    IdempotencyKey,
    ServicesDep,
    WaitsDep,
)
from backend.api.http.bodies import SCOPE_KEY, Body
from backend.api.http.sanitize import Sent
from backend.api.http.threads import read_finished
from backend.auth.scope import Scope
from backend.conversations.messages import last_answer
from backend.errors.base import InvalidInput
from backend.schemas.conversations.sessions import ChatRequest, ChatResponse, NewChatRequest
from backend.schemas.conversations.turns import Turn
from backend.schemas.ids import SessionId
from backend.turns.follow.waiting import Waits
from backend.turns.lifecycle import is_finished
from backend.turns.process.services import Services
from backend.turns.queries import find_turn, turn_of
from backend.turns.submit import service as turns
from backend.turns.submit.service import Submission
from db.session import Database

router = APIRouter(tags=["chat"])

DEFAULT_WAIT_SECONDS = 60.0
MAX_WAIT_SECONDS = 600.0

Prefer = Annotated[
    str | None,
    Header(
        description="`respond-async`: respond 202 immediately. `wait=N`: wait up to N seconds, and "
        f"{MAX_WAIT_SECONDS:.0f} at most. Other preferences have no effect (RFC 7240)."
    ),
]


async def get_preferences(request: Request, prefer: Prefer = None) -> str:
    """Return the caller's preferences; several headers are one list (RFC 7240, section 2)."""
    return ", ".join(request.headers.getlist("prefer"))


Preferences = Annotated[str, Depends(get_preferences)]


@dataclass(frozen=True)
class Waiter:
    """Waits for a turn as one request does: while its client is there, and its caller may."""

    request: Request
    waits: Waits
    access: Access
    token: str | None

    def has_room(self, scope: Scope) -> bool:
        """Return whether this request may wait."""
        return self.waits.has_room(scope, self._body.is_large)

    async def wait(self, scope: Scope, turn: Turn, seconds: float) -> None:
        """Wait until waiting longer is pointless. Raise NotSignedIn, SessionNotFound."""
        self._body.leave()
        with self.access.held(self.token, scope, turn.session_id) as held:
            left = held.ended_or(self._until_gone())
            await self.waits.wait(scope, turn, seconds, left, self._body.is_large)
        if held.end is not None:
            raise held.end

    @property
    def _body(self) -> Body:
        body: Body = self.request.scope[SCOPE_KEY]
        return body

    async def _until_gone(self) -> None:
        """Wait until the client has disconnected."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


async def get_waiter(
    request: Request, waits: WaitsDep, access: AccessDep, token: GivenToken
) -> Waiter:
    """Return what waits for this request's turn."""
    return Waiter(request, waits, access, token)


WaiterDep = Annotated[Waiter, Depends(get_waiter)]
ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": ChatResponse, "description": "Accepted; the turn continues in the background."}
}


@router.post("/chat", responses=ACCEPTED)
async def chat(
    body: Sent[NewChatRequest],
    response: Response,
    services: ServicesDep,
    waiter: WaiterDep,
    scope: AskScope,
    prefer: Preferences,
    idempotency_key: IdempotencyKey = None,
) -> ChatResponse:
    """Continue a session, or start one.

    If too many of the caller's requests are waiting already (`USER_WAITS`), or too many large
    ones, the response is 202 immediately, as with `Prefer: respond-async`.
    """
    submission = Submission(
        body.message,
        body.session_id,
        body.domain,
        body.agent,
        idempotency_key,
        model=body.model,
        team=body.team,
    )
    return await _answer(services, waiter, scope, submission, prefer, response)


@router.post("/sessions/{session_id}/chat", responses=ACCEPTED)
async def chat_in_session(
    session_id: SessionId,
    body: Sent[ChatRequest],
    response: Response,
    services: ServicesDep,
    waiter: WaiterDep,
    scope: AskScope,
    prefer: Preferences,
    idempotency_key: IdempotencyKey = None,
) -> ChatResponse:
    """Continue this session; responds like `/chat`, immediately or when the turn has ended."""
    submission = Submission(
        body.message, session_id, None, body.agent, idempotency_key, model=body.model
    )
    return await _answer(services, waiter, scope, submission, prefer, response)


def wait_seconds(prefer: str) -> float:
    """Return how long a client wants to wait, from its Prefer header (RFC 7240).

    Of several `wait` the first counts, and `respond-async` before all of them. Raise InvalidInput
    for one without a whole number.
    """
    seconds: float | None = None
    for preference in prefer.replace(";", ",").split(","):
        name, _, value = map(str.strip, preference.partition("="))
        if name.lower() == "respond-async":
            seconds = 0.0
        if name.lower() == "wait":
            value = value[1:-1] if value[:1] == value[-1:] == '"' else value
            if not (value.isascii() and value.isdigit()):
                raise InvalidInput("Prefer: wait=N takes a whole number of seconds.")
            if seconds is None:
                seconds = min(float(value), MAX_WAIT_SECONDS)
    return DEFAULT_WAIT_SECONDS if seconds is None else seconds


async def _answer(
    services: Services,
    waiter: Waiter,
    scope: Scope,
    submission: Submission,
    prefer: str,
    response: Response,
) -> ChatResponse:
    seconds = wait_seconds(prefer)
    turn = await run_in_threadpool(turns.submit, services, scope, submission)
    answer = _response(turn, None)
    if not is_finished(turn.status) and seconds and waiter.has_room(scope):
        await waiter.wait(scope, turn, seconds)
        answer = await read_finished(partial(_read_answer, services.database, scope, turn.id))
    elif is_finished(turn.status):
        answer = await read_finished(partial(_read_answer, services.database, scope, turn.id))
    if not is_finished(answer.status):
        response.status_code = 202
        response.headers["Location"] = f"/api/v1/turns/{turn.id}"
    return answer


def _read_answer(database: Database, scope: Scope, turn_id: UUID) -> ChatResponse:
    with database.read() as session:
        row = find_turn(session, scope, turn_id)
        turn, since = turn_of(session, row), row.message_position
        answer = None
        if is_finished(turn.status) and since is not None:
            answer = last_answer(session, turn.session_id, turn.id, since)
        return _response(turn, answer)


def _response(turn: Turn, answer: str | None) -> ChatResponse:
    return ChatResponse(
        session_id=turn.session_id,
        turn_id=turn.id,
        status=turn.status,
        response=answer,
        agent=turn.agent,
    )
