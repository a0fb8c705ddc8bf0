"""Converting messages of the agent state to their sent form, with the code that sends them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from backend.agents.state import load_messages
from backend.types import JSON


def as_sent(messages: Sequence[JSON], provider: str = "") -> list[JSON]:
    """Return messages of the state in the form sent to a model of this provider."""
    if not messages:
        return []
    model = _model().model_copy(update={"provider": provider})
    payload = model._get_request_payload(load_messages(list(messages)))
    sent: list[JSON] = payload["messages"]
    return sent


@lru_cache(maxsize=1)
def _model() -> Any:
    """Return a chat model that is never called; imported on first use, as that takes a second."""
    from pydantic import SecretStr

    from backend.llm.chat_model import ColloquyChatModel

    return ColloquyChatModel(
        model="none", api_key=SecretStr("none"), use_responses_api=False, output_version="v0"
    )
