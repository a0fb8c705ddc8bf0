"""What a policy may use beyond LangChain's features, and how it reports what it does."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage

from backend.agents.answers import Answers
from backend.llm.events import Delta, ModelEvent, Reset, Waiting
from backend.schemas.domains.templates import DomainTemplate

if TYPE_CHECKING:
    # The API only checks policies by name: without this import it starts a second sooner.
    from backend.llm.asking import Tell
    from backend.llm.chat_model import ColloquyChatModel
    from backend.llm.provider import ModelProvider


@dataclass(frozen=True)
class Notice:
    """A notice to people, shown with the next saved step."""

    text: str


@dataclass(frozen=True)
class OwnCall:
    """A model call made by a policy, whose usage counts towards the turn."""

    answer: AIMessage


Report = Notice | OwnCall


@dataclass(frozen=True)
class PolicyContext:
    """What each policy of an agent is built with, for one turn.

    `model` is the agent's own; `on_event` receives its output, for people to see immediately;
    `answers` are people's decisions on calls of this turn; `is_too_long`: the model has refused the
    conversation as too long.
    """

    models: "ModelProvider"
    image: DomainTemplate
    model: "ColloquyChatModel"
    tell: Callable[[Report], None]
    on_event: "Tell"
    answers: Answers = field(default_factory=Answers)
    is_too_long: bool = False

    def own_model(self, purpose: str, name: str | None) -> "ColloquyChatModel":
        """Return a model for a policy's own question, by default the agent's.

        People do not see its text; its other events go where those of the agent's model go.
        """

        def tell(event: ModelEvent) -> None:
            if not isinstance(event, Delta | Reset | Waiting):
                self.on_event(event)

        model = self.models.chat_model(name) if name else self.model
        return model.model_copy(update={"on_event": tell, "purpose": purpose})

    def speaking_model(self, name: str) -> "ColloquyChatModel":
        """Return another model whose answers are streamed in place of the agent's own."""
        return self.models.chat_model(name).model_copy(update={"on_event": self.on_event})
