"""The wire contract of events: what the data of each kind is."""

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from pydantic import Field

from backend.schemas.sessions import DisplayMessage, EventContext, EventName, Turn
from backend.schemas.wire import JSON, Wire


class NoTurn(Wire):
    """Where an event of a message belongs that belongs to no turn."""

    session_id: UUID


class TurnEvent(Wire):
    """What has become of a turn."""

    context: EventContext
    turn: Turn


class DeltaEvent(Wire):
    """A piece of an answer, as it arrives."""

    context: EventContext
    message_id: UUID = Field(
        description="The id of the display message that this becomes. All pieces of one id, in"
        " order, are its text, unless a `reset` takes them back, or the turn ends without it."
        " Where Redis has lost some, what `message_added` tells counts."
    )
    text: str


class ResetEvent(Wire):
    """Pieces of an answer are void: it broke off, and comes again under another id."""

    context: EventContext
    message_id: UUID | None = Field(
        description="What was given under this id; null: all that no `message_added` has told."
    )
    reason: str


class MessageEvent(Wire):
    """A display message as it is stored now."""

    context: EventContext | NoTurn
    message: DisplayMessage


class TodosEvent(Wire):
    """The agent's list of todos, whole."""

    context: EventContext
    todos: list[JSON]


class ProgressEvent(Wire):
    """What a turn does at this moment."""

    context: EventContext
    state: Literal["stopping", "waiting_for_model", "running_tool"]
    seconds: float | None = Field(None, description="Until its model is asked again.")
    reason: str | None = Field(None, description="Why it waits.")
    call_id: str | None = Field(None, description="The call whose tool runs.")
    text: str | None = Field(None, description="What that tool says of its progress, in a line.")


EVENTS: Mapping[EventName, type[Wire]] = {
    EventName.TURN_QUEUED: TurnEvent,
    EventName.TURN_STARTED: TurnEvent,
    EventName.TEXT_DELTA: DeltaEvent,
    EventName.THINKING_DELTA: DeltaEvent,
    EventName.MESSAGE_ADDED: MessageEvent,
    EventName.MESSAGE_UPDATED: MessageEvent,
    EventName.TODOS_UPDATED: TodosEvent,
    EventName.PROGRESS: ProgressEvent,
    EventName.RESET: ResetEvent,
    EventName.INTERRUPT: TurnEvent,
    EventName.TURN_FINISHED: TurnEvent,
}
