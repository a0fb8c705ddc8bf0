"""What a policy may use beyond LangChain's own, and how it tells of what it does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from backend.agents.answers import Answers
from backend.llm.events import Delta, ModelEvent, Reset, Waiting
from backend.schemas.domains.templates import DomainTemplate

if TYPE_CHECKING:
    # The API checks policies by name and asks no model: it starts a second sooner without.
    from backend.llm.asking import Tell
    from backend.llm.chat_model import ColloquyChatModel
    from backend.llm.provider import ModelProvider


@dataclass(frozen=True)
class Notice:
    """What a person should know of; told with the next step that is saved."""

    text: str


@dataclass(frozen=True)
class OwnCall:
    """A policy has asked a model itself; what that used counts into the turn."""

    purpose: str
    sent: Sequence[BaseMessage]
    answer: AIMessage


Report = Notice | OwnCall


class Codec(NamedTuple):
    """How a policy's value becomes JSON, and comes back.

    A policy with values that JSON does not know has `codecs`, by key of the state. What `load`
    raises for, such as a value of an older shape, the policy does not get.
    """

    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


Codecs = Mapping[str, Codec]


@dataclass(frozen=True)
class PolicyContext:
    """What each policy of an agent is built with, for one turn.

    `model` is the agent's own; `on_event` is told what it says, for people to see at once;
    `answers` are what people have decided on calls of this turn.
    """

    models: "ModelProvider"
    image: DomainTemplate
    model: "ColloquyChatModel"
    tell: Callable[[Report], None]
    on_event: "Tell"
    answers: Answers = field(default_factory=Answers)

    def own_model(self, purpose: str, name: str | None) -> "ColloquyChatModel":
        """Return a model for a policy's own question, by default the agent's.

        People do not see what it says; all else that it tells goes where the agent's own goes.
        """

        def tell(event: ModelEvent) -> None:
            if not isinstance(event, Delta | Reset | Waiting):
                self.on_event(event)

        model = self.models.chat_model(name) if name else self.model
        return model.model_copy(update={"on_event": tell, "purpose": purpose})

    def speaking_model(self, name: str) -> "ColloquyChatModel":
        """Return another model that answers in the agent's place, for people to see at once."""
        return self.models.chat_model(name).model_copy(update={"on_event": self.on_event})
