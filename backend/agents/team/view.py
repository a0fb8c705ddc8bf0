"""What an agent of a team reads of the conversation: messages, not the work behind them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage

from backend.agents.team.marks import is_observation
from backend.agents.team.payload import PAYLOAD
from backend.agents.team.prompt import manager_sections, payload_section
from backend.schemas.domains.templates import AgentTemplate
from backend.types import JSON
from colloquy_kit.messages.state import is_brief

Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


@dataclass(frozen=True)
class Team:
    """What an agent knows of a conversation that it shares with others.

    `agents` are those that a manager may ask, None for other agents; `recent` is how many messages
    are read; `artifacts` are those of each message, by its id, newest last.
    """

    conversation_id: UUID
    recent: int
    artifact_characters: int
    agents: Sequence[AgentTemplate] | None = None
    artifacts: Mapping[str, Sequence[JSON]] = field(default_factory=dict)


class ConversationView(AgentMiddleware[Any, Any]):
    """Gives an agent the newest messages of the conversation, and the whole current turn.

    Of earlier turns it reads what people wrote and what agents answered, under each agent's name,
    with its artifacts. The state does not change.
    """

    def __init__(self, team: Team) -> None:
        super().__init__()
        self._team = team

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Handler
    ) -> ModelResponse[Any]:
        """Ask with the view of the messages, and the payload in the prompt."""
        payload = cast(JSON, request.state.get(PAYLOAD) or {})
        sections = self._sections(request.messages)
        parts = [request.system_prompt or "", *sections, payload_section(payload)]
        messages = self._with_artifacts(view_of(request.messages, self._team.recent))
        prompt = SystemMessage("\n\n".join(part for part in parts if part))
        return await handler(
            request.override(system_message=prompt, messages=cast(list[AnyMessage], messages))
        )

    def _sections(self, messages: Sequence[BaseMessage]) -> list[str]:
        if self._team.agents is None:
            return []
        persons = [message for message in messages if _is_persons(message)]
        return manager_sections(
            self._team.agents,
            self._team.conversation_id,
            (persons[-1].id or "") if persons else "",
            is_first=len(persons) == 1,
        )

    def _with_artifacts(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Append each message's artifacts to its text, newest first, while there is room."""
        room, shown = self._team.artifact_characters, list(messages)
        for place in range(len(shown) - 1, -1, -1):
            texts = []
            for artifact in reversed(self._team.artifacts.get(shown[place].id or "", ())):
                text = artifact_text(artifact)
                if len(text) > room:
                    text = artifact_text(_named_only(artifact))
                room = max(room - len(text), 0)
                texts.append(text)
            if texts:
                content = shown[place].text + "".join(reversed(texts))
                shown[place] = shown[place].model_copy(update={"content": content})
        return shown


def view_of(messages: Sequence[BaseMessage], recent: int) -> list[BaseMessage]:
    """Return what an agent reads: at most `recent` messages up to the current one, and its turn."""
    present = max(
        (place for place, m in enumerate(messages) if _is_persons(m)), default=len(messages)
    )
    earlier = [message for message in messages[:present] if _was_said(message)]
    return [*(earlier[-(recent - 1) :] if recent > 1 else []), *messages[present:]]


def artifact_text(artifact: JSON) -> str:
    """Return an artifact in the form appended to its message's text."""
    return f"\n\n# Artifact\n{json.dumps(artifact, ensure_ascii=False)}\n"


def _named_only(artifact: JSON) -> JSON:
    named = {key: value for key, value in artifact.items() if key != "content"}
    return named | {"left_out": "Too long to stand here: read it with read_artifact."}


def _is_persons(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not is_brief(message)


def _was_said(message: BaseMessage) -> bool:
    if isinstance(message, AIMessage):
        return bool(message.text.strip()) and not message.tool_calls and not is_observation(message)
    return isinstance(message, HumanMessage) and not is_brief(message)
