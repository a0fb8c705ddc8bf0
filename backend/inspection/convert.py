"""Converting messages of the agent state to their sent form, with the code that sends them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from backend.errors.conversations import corrupt_if_it_fails
from backend.types import JSON
from colloquy_kit.messages.state import load_messages


def as_sent(messages: Sequence[JSON], provider: str = "") -> list[JSON]:
    """Return messages of the state in the form sent to a model of this provider."""
    if not messages:
        return []
    model = _model().model_copy(update={"provider": provider})
    with corrupt_if_it_fails():
        loaded = load_messages(list(messages))
    payload = model._get_request_payload(loaded)
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
