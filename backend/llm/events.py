"""What a chat model tells while it is asked: pieces of its answer, and why it takes longer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives: of its text or of the thinking before it."""

    message_id: str
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """What was shown of an answer does not count: it broke off, and is asked for again."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing is asked for so many seconds; then the model is asked again."""

    seconds: float
    reason: str


ModelEvent = Delta | Reset | Waiting
