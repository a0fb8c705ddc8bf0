"""Leaving old tool results out of model requests once the conversation is long."""

from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from pydantic import Field

from backend.schemas.wire import Input

CLEARED = "[left out: an old result; call the tool again if it is needed]"


class ContextEditingSettings(Input):
    """Old tool results are left out of what the model reads; people still see them."""

    trigger_tokens: int = Field(
        50_000, ge=1, description="Applies from this many tokens, of about four characters each."
    )
    keep: int = Field(3, ge=0, description="How many of the newest results always stay.")
    never: list[str] = Field([], description="Tools whose results always stay.")


class ContextEditing(ContextEditingMiddleware[Any, Any]):
    """LangChain's policy: it edits each request; state and history do not change."""

    def __init__(self, settings: ContextEditingSettings) -> None:
        edit = ClearToolUsesEdit(
            trigger=settings.trigger_tokens,
            keep=settings.keep,
            exclude_tools=settings.never,
            placeholder=CLEARED,
        )
        super().__init__(edits=[edit])
