"""Marks on messages of the state, besides their text, that no model reads."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from backend.conversations.display import RESPONSE
from backend.types import JSON


def response_in(message: JSON) -> JSON:
    """Return a stored message's response besides its text; empty if there is none."""
    return _mark(message.get("additional_kwargs") or {}, RESPONSE)


def is_observation(message: BaseMessage) -> bool:
    """Return whether this is a manager's message with nothing to say."""
    return bool(_mark(message.additional_kwargs, RESPONSE).get("observed"))


def _mark(extra: Mapping[str, Any], name: str) -> JSON:
    mark = extra.get(name)
    return mark if isinstance(mark, dict) else {}
