"""Conversations over HTTP: `app.include_router(make_routes(get_scope))`.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
"""

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from colloquy_kit.errors import KitError
from colloquy_kit.runtime.running import NotPossible
from colloquy_kit.store.errors import NotAllowed, NotFound, StaleVersion
from fastapi import APIRouter, Depends, HTTPException, Request, Response
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

    @router.post("/{conversation_id}/messages", status_code=204)
    def send_message(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        message: NewMessage,
    ) -> None:
        """Send a message and wait for the answer."""
        agent = start_agent(scope, conversation_id)
        agent.send(message.text)
        agent.wait()

    @router.post("/{conversation_id}/resume", status_code=204)
    def resume(
        scope: Annotated[Scope, Depends(get_scope)],
        conversation_id: UUID,
        answers: list[Any],
    ) -> None:
        """Answer the agent's questions, or none to continue what was cut off."""
        agent = start_agent(scope, conversation_id)
        agent.resume(*answers)
        agent.wait()

    return router
