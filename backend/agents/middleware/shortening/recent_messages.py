"""Keeping the model's input short by dropping the oldest messages. People still see them."""

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langgraph.runtime import Runtime
from pydantic import Field, model_validator

from backend.schemas.wire import Input
from colloquy_kit.messages.state import is_brief


class RecentMessagesSettings(Input):
    """The model reads only the newest messages, without a summary of earlier ones."""

    trigger: int = Field(200, ge=1, description="Above this number, old messages are dropped.")
    keep: int = Field(100, ge=1, description="About how many messages remain.")

    @model_validator(mode="after")
    def _keeps_less_than_triggers(self) -> "RecentMessagesSettings":
        if self.keep > self.trigger:
            raise ValueError("keep must not be larger than trigger")
        return self


class RecentMessages(AgentMiddleware[Any, Any]):
    """Drops the oldest messages from the state as a turn starts, so restoring costs stay flat."""

    def __init__(self, settings: RecentMessagesSettings) -> None:
        super().__init__()
        self._settings = settings

    async def abefore_agent(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Remove the messages before the cut."""
        messages = state["messages"]
        if len(messages) <= self._settings.trigger:
            return None
        cut = find_cut(messages, self._settings.keep)
        dropped = [RemoveMessage(id=message.id or "") for message in messages[:cut]]
        return {"messages": dropped} if dropped else None


def find_cut(messages: Sequence[BaseMessage], keep: int) -> int:
    """Return where the kept messages begin: a person's message, so that no call loses its result.

    It is the first one within the last `keep` messages, or else the last one before them.
    """
    wanted = max(len(messages) - keep, 0)
    persons = [
        place for place, m in enumerate(messages) if isinstance(m, HumanMessage) and not is_brief(m)
    ]
    within = [place for place in persons if place >= wanted]
    return within[0] if within else max(persons, default=0)
