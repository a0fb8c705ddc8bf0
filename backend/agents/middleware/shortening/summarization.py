"""Keeping the model's input short by summarising old messages. People still see them."""

import asyncio
import logging
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.summarization import DEFAULT_SUMMARY_PROMPT
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from pydantic import Field, field_validator, model_validator

from backend.agents.middleware.shortening.compaction import (
    Cut,
    count_tokens,
    find_cut,
    shorten,
    summary_message,
    transcript,
)
from backend.agents.policy_context import Notice, OwnCall, PolicyContext
from backend.errors.base import AppError
from backend.schemas.bounds import ModelName
from backend.schemas.wire import Input
from db.failpoints import failpoint

PURPOSE = "summary"
PLACE = "{messages}"
CHARS_PER_TOKEN = 4
WORTH = 8  # less than an eighth of what is kept is not worth a summary
FAILED = "The earlier conversation could not be summarised ({reason}), so it was left out."

logger = logging.getLogger(__name__)


class SummarizationSettings(Input):
    """In a long conversation, the model reads a summary in place of old messages."""

    trigger_tokens: int = Field(
        32_000, ge=100, description="Applies from this many tokens, of about four characters each."
    )
    keep_tokens: int = Field(
        8_000, ge=50, description="About how many tokens stay unchanged: at most half."
    )
    trigger_messages: int = Field(200, ge=4, description="Also applies from this many messages.")
    model: ModelName | None = Field(
        None, description="The model that summarises; absent: the agent's."
    )
    prompt: str = Field(DEFAULT_SUMMARY_PROMPT, description="The prompt, with {messages} in it.")
    seconds: float = Field(60.0, gt=0, le=600, description="How long it may take.")

    @field_validator("prompt")
    @classmethod
    def _says_where_the_messages_go(cls, prompt: str) -> str:
        if PLACE not in prompt:
            raise ValueError(f"it must say where the messages go: {PLACE}")
        return prompt

    @model_validator(mode="after")
    def _keeps_less_than_triggers(self) -> "SummarizationSettings":
        if self.keep_tokens > self.trigger_tokens // 2:
            raise ValueError("keep_tokens must not be more than half of trigger_tokens")
        return self


class Summarization(AgentMiddleware[Any, Any]):
    """Runs before each model call; marks its summary as LangChain's SummarizationMiddleware does.

    Unlike LangChain's, it keeps the person's question, and continues when no summary can be made:
    then the old messages are left out, and a notice says so. What the model has refused as too long
    lowers the limits for the rest of the run.
    """

    def __init__(self, settings: SummarizationSettings, context: PolicyContext) -> None:
        super().__init__()
        self._settings = settings
        self._tell = context.tell
        self._is_too_long = context.is_too_long
        self._model = context.own_model(PURPOSE, settings.model)

    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Replace old messages with a summary, if there are too many."""
        if self._is_too_long:
            self._is_too_long = False
            self._lower_limits(state["messages"])
        cut = self._find_cut(state["messages"])
        if cut is None:
            return None
        start = await self._start_of(cut)
        failpoint("summary.before_save")
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *start, *cut.kept]}

    def _lower_limits(self, refused: list[BaseMessage]) -> None:
        tokens = count_tokens(refused)
        keep = min(self._settings.keep_tokens, tokens // 4)
        lower = {"trigger_tokens": min(self._settings.trigger_tokens, tokens // 2)}
        self._settings = self._settings.model_copy(update={**lower, "keep_tokens": keep})

    def _find_cut(self, messages: list[BaseMessage]) -> Cut | None:
        """Return the cut, if one is due and worthwhile."""
        settings = self._settings
        is_many = len(messages) >= settings.trigger_messages
        if not is_many and count_tokens(messages) < settings.trigger_tokens:
            return None
        cut = find_cut(messages, settings.keep_tokens, settings.trigger_messages // 2)
        if cut and not is_many and count_tokens(cut.old) < settings.keep_tokens // WORTH:
            return None
        return cut

    async def _start_of(self, cut: Cut) -> list[BaseMessage]:
        """Return the new summary; if none can be made, the previous one."""
        earlier = [cut.summary] if cut.summary else []
        try:
            async with asyncio.timeout(self._settings.seconds):
                summary = await self._summarise([*earlier, *cut.old])
        except AppError as error:
            reason = error.detail.split(". ")[0].rstrip(".")
        except TimeoutError:
            reason = f"it took longer than {self._settings.seconds:g} seconds"
        else:
            if summary:
                return [summary_message(summary)]
            reason = "the summary was empty"
        logger.warning("no summary", extra={"reason": reason})
        self._tell(Notice(FAILED.format(reason=reason)))
        return earlier

    async def _summarise(self, messages: list[BaseMessage]) -> str:
        """Return the model's summary of the messages; report its usage."""
        text = transcript(messages, self._settings.trigger_tokens * CHARS_PER_TOKEN)
        request = HumanMessage(self._settings.prompt.replace(PLACE, text))
        answer = await self._model.ainvoke([request])
        self._tell(OwnCall(answer))
        return shorten(answer.text.strip(), self._settings.keep_tokens // 2 * CHARS_PER_TOKEN)
