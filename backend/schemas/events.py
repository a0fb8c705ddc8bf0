"""The events of a session: one union for publishers, followers and the wire contract.

On the wire the event's name gives its kind, and `data` holds everything else, without `event`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.sessions import DisplayMessage, EventContext
from backend.schemas.conversations.turns import Turn
from backend.schemas.tasks import Task
from backend.schemas.wire import Wire
from backend.types import JSON


class NoTurn(Wire):
    """The context of a message's event that belongs to no turn."""

    turn_id: ClassVar[None] = None

    session_id: UUID


class _TurnEvent(Wire):
    context: EventContext
    turn: Turn


class TurnQueued(_TurnEvent):
    """A turn was accepted."""

    event: Literal["turn_queued"] = Field("turn_queued", exclude=True)


class TurnStarted(_TurnEvent):
    """A worker has started or resumed a turn."""

    event: Literal["turn_started"] = Field("turn_started", exclude=True)


class Interrupt(_TurnEvent):
    """A turn waits for a person."""

    event: Literal["interrupt"] = Field("interrupt", exclude=True)


class TurnFinished(_TurnEvent):
    """A turn has succeeded, failed or been stopped."""

    event: Literal["turn_finished"] = Field("turn_finished", exclude=True)


class _DeltaEvent(Wire):
    context: EventContext
    message_id: UUID = Field(
        description="The id of the display message that this text becomes. All pieces with one id,"
        " in order, are its text, unless a `reset` discards them or the turn ends without it."
        " If Redis lost some, the text in `message_added` is authoritative."
    )
    text: str


class TextDelta(_DeltaEvent):
    """A piece of an answer, as it streams."""

    event: Literal["text_delta"] = Field("text_delta", exclude=True)


class ThinkingDelta(_DeltaEvent):
    """A piece of the model's thinking, as it streams."""

    event: Literal["thinking_delta"] = Field("thinking_delta", exclude=True)


class Reset(Wire):
    """Pieces of an answer are void: it was interrupted, and starts again under another id.

    Or they were the model's thinking, and come again as such: under the same ids.
    """

    event: Literal["reset"] = Field("reset", exclude=True)
    context: EventContext
    message_id: UUID | None = Field(
        description="Discard the text with this id; null: all text not in a `message_added` yet."
    )
    reason: str


class _MessageEvent(Wire):
    context: EventContext | NoTurn
    message: DisplayMessage


class MessageAdded(_MessageEvent):
    """A display message was stored."""

    event: Literal["message_added"] = Field("message_added", exclude=True)


class MessageUpdated(_MessageEvent):
    """A stored display message changed its status; this is its current state."""

    event: Literal["message_updated"] = Field("message_updated", exclude=True)


class TodosUpdated(Wire):
    """The agent's complete list of todos."""

    event: Literal["todos_updated"] = Field("todos_updated", exclude=True)
    context: EventContext
    todos: list[JSON]


def _is_absent(value: object) -> bool:
    return value is None


class Progress(Wire):
    """What a turn is doing at the moment."""

    event: Literal["progress"] = Field("progress", exclude=True)
    context: EventContext
    state: Literal["stopping", "waiting_for_model", "running_tool", "routing", "completing"]
    seconds: float | None = Field(
        None, description="Seconds until the model is called again.", exclude_if=_is_absent
    )
    reason: str | None = Field(None, description="Why it waits.", exclude_if=_is_absent)
    call_id: str | None = Field(
        None, description="The tool call that is running.", exclude_if=_is_absent
    )
    text: str | None = Field(
        None, description="The tool's own progress report, one line.", exclude_if=_is_absent
    )


class TaskUpdated(Wire):
    """A task of a plan changed its status; this is its current state."""

    event: Literal["task_updated"] = Field("task_updated", exclude=True)
    context: EventContext
    task: Task


class StreamEnded(Wire):
    """The last event of a stream that its caller may not follow any more, and why."""

    status: int
    title: str
    detail: str


SessionEvent = Annotated[
    TurnQueued
    | TurnStarted
    | TextDelta
    | ThinkingDelta
    | MessageAdded
    | MessageUpdated
    | TodosUpdated
    | Progress
    | TaskUpdated
    | Reset
    | Interrupt
    | TurnFinished,
    Field(discriminator="event"),
]

_UNION, _ = get_args(SessionEvent)
EVENTS: Mapping[str, type[SessionEvent]] = {
    kind.model_fields["event"].default: kind for kind in get_args(_UNION)
}


def read_event(name: str, data: Any) -> SessionEvent:
    """Return the event that another process wrote, from its name and its data (JSON or text).

    Raise ValueError if the name is unknown, or the data lacks a field.
    """
    if name not in EVENTS:
        raise ValueError(f"no event is named {name!r:.40}")
    return EVENTS[name].read(data)
