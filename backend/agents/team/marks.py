"""What messages of the state say of themselves beside their text: marks that no model reads."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from backend.conversations.display import RESPONSE
from backend.types import JSON

BRIEF = "brief"  # of a message that is not a person's: what an agent tells the next one


def response_in(message: JSON) -> JSON:
    """Return what a stored message says beside its text; empty where it says nothing."""
    return _mark(message.get("additional_kwargs") or {}, RESPONSE)


def is_brief(message: BaseMessage | JSON) -> bool:
    """Return whether an agent wrote this for the one that goes on with the turn."""
    extra = (
        message.get("additional_kwargs")
        if isinstance(message, dict)
        else (message.additional_kwargs)
    )
    return bool((extra or {}).get(BRIEF))


def is_observation(message: BaseMessage) -> bool:
    """Return whether a manager had nothing to say with this."""
    return bool(_mark(message.additional_kwargs, RESPONSE).get("observed"))


def _mark(extra: Mapping[str, Any], name: str) -> JSON:
    mark = extra.get(name)
    return mark if isinstance(mark, dict) else {}
