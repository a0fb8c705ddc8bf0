"""The events of a session: one union for who publishes them, who follows, and the wire contract.

On the wire the kind of an event is its name, and `data` is all else: `event` is no part of that.
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
    """Where an event of a message belongs that belongs to no turn."""

    turn_id: ClassVar[None] = None

    session_id: UUID


class _TurnEvent(Wire):
    context: EventContext
    turn: Turn


class TurnQueued(_TurnEvent):
    """A turn was accepted."""

    event: Literal["turn_queued"] = Field("turn_queued", exclude=True)


class TurnStarted(_TurnEvent):
    """A worker has taken a turn, for the first time or again."""

    event: Literal["turn_started"] = Field("turn_started", exclude=True)


class Interrupt(_TurnEvent):
    """A turn waits for people."""

    event: Literal["interrupt"] = Field("interrupt", exclude=True)


class TurnFinished(_TurnEvent):
    """A turn has succeeded, failed or was stopped."""

    event: Literal["turn_finished"] = Field("turn_finished", exclude=True)


class _DeltaEvent(Wire):
    context: EventContext
    message_id: UUID = Field(
        description="The id of the display message that this becomes. All pieces of one id, in"
        " order, are its text, unless a `reset` takes them back, or the turn ends without it."
        " Where Redis has lost some, what `message_added` tells counts."
    )
    text: str


class TextDelta(_DeltaEvent):
    """A piece of an answer, as it arrives."""

    event: Literal["text_delta"] = Field("text_delta", exclude=True)


class ThinkingDelta(_DeltaEvent):
    """A piece of the model's thinking, as it arrives."""

    event: Literal["thinking_delta"] = Field("thinking_delta", exclude=True)


class Reset(Wire):
    """Pieces of an answer are void: it broke off, and comes again under another id."""

    event: Literal["reset"] = Field("reset", exclude=True)
    context: EventContext
    message_id: UUID | None = Field(
        description="What was given under this id; null: all that no `message_added` has told."
    )
    reason: str


class _MessageEvent(Wire):
    context: EventContext | NoTurn
    message: DisplayMessage


class MessageAdded(_MessageEvent):
    """A display message was stored."""

    event: Literal["message_added"] = Field("message_added", exclude=True)


class MessageUpdated(_MessageEvent):
    """A stored display message has another status; this is how it is now."""

    event: Literal["message_updated"] = Field("message_updated", exclude=True)


class TodosUpdated(Wire):
    """The agent's list of todos, whole."""

    event: Literal["todos_updated"] = Field("todos_updated", exclude=True)
    context: EventContext
    todos: list[JSON]


def _is_absent(value: object) -> bool:
    return value is None


class Progress(Wire):
    """What a turn does at this moment."""

    event: Literal["progress"] = Field("progress", exclude=True)
    context: EventContext
    state: Literal["stopping", "waiting_for_model", "running_tool", "routing", "completing"]
    seconds: float | None = Field(
        None, description="Until its model is asked again.", exclude_if=_is_absent
    )
    reason: str | None = Field(None, description="Why it waits.", exclude_if=_is_absent)
    call_id: str | None = Field(
        None, description="The call whose tool runs.", exclude_if=_is_absent
    )
    text: str | None = Field(
        None, description="What that tool says of its progress, in a line.", exclude_if=_is_absent
    )


class TaskUpdated(Wire):
    """A task of a plan has another status; this is how it is now."""

    event: Literal["task_updated"] = Field("task_updated", exclude=True)
    context: EventContext
    task: Task


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
    """Return the event that another part has written: its name, and its data, JSON or its text.

    Raise ValueError where it is none of these, or lacks what they have.
    """
    if name not in EVENTS:
        raise ValueError(f"no event is named {name!r:.40}")
    return EVENTS[name].read(data)
