"""Leaves old tool results out of what the model is sent, once the conversation is long."""

from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from pydantic import Field

from backend.schemas.wire import Input

CLEARED = "[left out: an old result; call the tool again if it is needed]"


class ContextEditingSettings(Input):
    """Old results of tools are left out of what the model is sent; people see them still."""

    trigger_tokens: int = Field(
        50_000, ge=1, description="From how many tokens on; a token is about four characters."
    )
    keep: int = Field(3, ge=0, description="How many of the newest results always stay.")
    never: list[str] = Field([], description="Tools whose results always stay.")


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
