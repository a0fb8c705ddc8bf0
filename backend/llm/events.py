"""The events of a model call: the request, pieces of the answer, reasons for waiting."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from backend.errors.base import AppError
from backend.telemetry import gen_ai
from backend.telemetry.calls import model_call
from backend.telemetry.spans import Attributes
from backend.types import JSON

ANSWER = "answer"
CUT_OFF = "Stopped"
WAS_THINKING = "It was the model's thinking"


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer as it arrives: of its text or of the thinking before it."""

    message_id: str
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """What was shown of an answer is void: it broke off and is asked for again, or was thinking."""

    message_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model is asked again after a wait of so many seconds."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reshaped:
    """An endpoint that had refused this form answered a request in another one.

    `changes` are clauses that say in what it differs.
    """

    model: str
    changes: tuple[str, ...]


@dataclass(slots=True, eq=False)
class ModelCall:
    """One request as it leaves; its outcome is filled in once it has ended.

    `messages` has, for each message of `payload`, the JSON sent to `provider`, the one that it was
    made of; None if a repair of the form has changed or added it. `began`: seconds since 1970.
    """

    purpose: str
    messages: Sequence[BaseMessage | None]
    payload: JSON
    provider: str = ""
    began: float = field(default_factory=time.time)
    seconds: float | None = None
    used: UsageMetadata | None = None
    cost: float = 0.0
    failure: str = ""

    @property
    def has_ended(self) -> bool:
        """Return whether the answer has arrived, or will not come."""
        return self.seconds is not None

    def answered(self, message: AIMessage, cost: float) -> None:
        """Record the answer's usage."""
        self.used, self.cost = message.usage_metadata, cost

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Record how long the block takes, and why it fails if it does."""
        begun = time.monotonic()
        with model_call(str(self.payload["model"])) as call:
            try:
                yield
                if self.used:
                    call.note(_tokens(self.used))
            except BaseException as error:
                self.failure = _name(error)
                raise
            finally:
                self.seconds = time.monotonic() - begun


def _tokens(used: UsageMetadata) -> Attributes:
    cached = used.get("input_token_details", {}).get("cache_read", 0)
    reasoning = used.get("output_token_details", {}).get("reasoning", 0)
    return gen_ai.used(used["input_tokens"], used["output_tokens"], cached, reasoning)


def _name(error: BaseException) -> str:
    if isinstance(error, AppError):
        return error.title
    return CUT_OFF if isinstance(error, asyncio.CancelledError) else type(error).__name__


ModelEvent = Delta | Reset | Waiting | Reshaped | ModelCall
