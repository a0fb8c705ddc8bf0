"""Conversations over HTTP: `app.include_router(make_routes(get_scope))`.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
"""

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import closing
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from colloquy_kit.errors import KitError
from colloquy_kit.runtime.events import (
    Delta,
    Event,
    MessageSaved,
    StatusChanged,
    Subscription,
)
from colloquy_kit.runtime.running import NotPossible, RunningAgent
from colloquy_kit.store.errors import NotAllowed, NotFound, StaleVersion
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

${imports}

STATUSES = {NotFound: 404, StaleVersion: 409, NotPossible: 409, NotAllowed: 422}
LONGEST_TEXT = 100_000


class NewConversation(BaseModel):
    """What a conversation begins with."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] = Field(default_factory=dict)


class Changes(BaseModel):
    """What is changed, and the version that was read."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, max_length=200)
    metadata: dict[str, Any] | None = None
    version: int | None = None


class NewMessage(BaseModel):
    """What a person says."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)


class ConversationOut(BaseModel):
    """A conversation, without its messages."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    title: str | None
    version: int
    metadata: dict[str, Any] | None = Field(validation_alias="metadata_")
    inserted_at: datetime
    updated_at: datetime


class MessageOut(BaseModel):
    """A row of what people see."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    message_type: str
    content_type: str
    content: dict[str, Any]
    sequence: int
    status: str
    metadata: dict[str, Any] | None = Field(validation_alias="metadata_")
    inserted_at: datetime


class _Route(APIRoute):
    """Answers with a status and a sentence what the kit refuses."""

    def get_route_handler(
        self,
    ) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except KitError as error:
                status = STATUSES.get(type(error), 503)
                raise HTTPException(status, str(error)) from error

        return answer


def _sse(name: str, **data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def _written(event: Event) -> str:
    """Return an event as Server-Sent Events have it."""
    match event:
        case Delta():
            return _sse("delta", text=event.text, thinking=event.thinking)
        case MessageSaved():
            rows = [MessageOut.model_validate(row) for row in event.rows]
            return _sse("saved", rows=[row.model_dump(mode="json") for row in rows])
        case StatusChanged():
            error = "The agent has failed." if event.error else None
            asked = list(event.questions)
            return _sse("status", status=event.status, error=error, questions=asked)


async def _until_it_rests(events: Subscription) -> AsyncIterator[str]:
    with closing(events):
        async for event in events:
            yield _written(event)
            if isinstance(event, StatusChanged) and event.status != "running":
                return


def _follow(agent: RunningAgent, begin: Callable[[], None]) -> StreamingResponse:
    """Begin, and answer with what happens until the agent rests."""
    events = agent.subscribe()
    try:
        begin()
    except BaseException:
        events.close()
        raise
    return StreamingResponse(_until_it_rests(events), media_type="text/event-stream")


def make_routes(
    get_scope: Callable[..., Any], prefix: str = "/conversations"
) -> APIRouter:
    """Return the routes; `get_scope` is the dependency that says who asks."""
    router = APIRouter(prefix=prefix, tags=["conversations"], route_class=_Route)

    @router.get("", response_model=list[ConversationOut])
    def list_conversations(
        scope: Annotated[Scope, Depends(get_scope)],
        order_by: str = "-updated_at",
        limit: int = 20,
    ) -> Sequence[Conversation]:
        return service.list_conversations(scope, order_by=order_by, limit=limit)

    @router.post("", response_model=ConversationOut, status_code=201)
    def create_conversation(
        scope: Annotated[Scope, Depends(get_scope)], new: NewConversation
    ) -> Conversation:
        return service.create_conversation(scope, new.model_dump(exclude_unset=True))

    @router.get("/{conversation_id}", response_model=ConversationOut)
    def get_conversation(
        scope: Annotated[Scope, Depends(get_scope)], conversation_id: UUID
    ) -> Conversation:
        return service.get_conversation(scope, conversation_id)

    @router.patch("/{conversation_id}", response_model=ConversationOut)
    def update_conversation(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        changes: Changes,
    ) -> Conversation:
        values = changes.model_dump(exclude_unset=True, exclude={"version"})
        return service.update_conversation(
            scope, conversation_id, values, version=changes.version
        )

    @router.delete("/{conversation_id}", status_code=204)
    def delete_conversation(
        scope: Annotated[Scope, Depends(get_scope)], conversation_id: UUID
    ) -> None:
        service.delete_conversation(scope, conversation_id)

    @router.get("/{conversation_id}/messages", response_model=list[MessageOut])
    def load_display_messages(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        limit: int | None = None,
    ) -> Sequence[DisplayMessage]:
        return service.load_display_messages(scope, conversation_id, limit=limit)

    @router.post("/{conversation_id}/messages")
    def send_message(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        message: NewMessage,
    ) -> StreamingResponse:
        """Send a message and follow the answer, as Server-Sent Events."""
        agent = start_agent(scope, conversation_id)
        return _follow(agent, lambda: agent.send(message.text))

    @router.post("/{conversation_id}/resume")
    def resume(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        answers: list[Any],
    ) -> StreamingResponse:
        """Answer the agent's questions, or none to continue what was cut off."""
        agent = start_agent(scope, conversation_id)
        return _follow(agent, lambda: agent.resume(*answers))

    return router
