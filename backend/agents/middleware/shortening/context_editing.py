"""Leaves old tool results out of what the model is sent, once the conversation is long."""

from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from pydantic import Field

from backend.schemas.wire import Input

CLEARED = "[left out: an old result; call the tool again if it is needed]"


class ContextEditingSettings(Input):
    """From how many tokens on, how many of the newest results stay, and of which tools all do."""

    trigger_tokens: int = Field(50_000, ge=1)
    keep: int = Field(3, ge=0)
    never: list[str] = []


class ContextEditing(ContextEditingMiddleware[Any, Any]):
    """LangChain's own: each request is edited as it leaves; state and history stay as they are."""

    def __init__(self, settings: ContextEditingSettings) -> None:
        edit = ClearToolUsesEdit(
            trigger=settings.trigger_tokens,
            keep=settings.keep,
            exclude_tools=settings.never,
            placeholder=CLEARED,
        )
        super().__init__(edits=[edit])
