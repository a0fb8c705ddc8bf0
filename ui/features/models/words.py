"""The wording for a connection to models. Pure."""

import re
from datetime import datetime

from backend.schemas.connections import ConnectionSource, ConnectionUsed, ModelConnection
from ui.shared.formats.times import moment
from ui.shared.text.markdown import plain

URL, KEY, MODEL = "Base URL", "API key", "Default model"
_LABELS = {"base_url": URL, "api_key": KEY, "default_model": MODEL}
_FIELD = re.compile(rf"(^|; )({'|'.join(_LABELS)}): ")
RULE = (
    "A connection saved here replaces OPENAI_API_KEY, OPENAI_BASE_URL and MODEL as a whole, for"
    " everyone, from the next turn on; running turns are not affected. No restart is needed. The"
    " API key is stored encrypted and never shown again."
)
DEMO = (
    "**The demo model answers.** It comes with Colloquy and knows only a few example questions."
    " Connect a real model below."
)


def in_use(connection: ModelConnection, now: datetime) -> str:
    """Return which connection is in use, and where it comes from."""
    if connection.source is ConnectionSource.DEMO:
        return DEMO
    sentence = f"**In use:** {used_words(connection)}."
    if connection.source is ConnectionSource.ENVIRONMENT:
        return f"{sentence} Set by the environment: OPENAI_API_KEY, OPENAI_BASE_URL, MODEL."
    by, at = plain(connection.saved_by or "", 60), connection.saved_at
    return f"{sentence} Saved here by {by}{f', {moment(at, now)}' if at else ''}."


def refusal(detail: str) -> str:
    """Return why a connection is refused, with the fields named as they are labelled."""
    return _FIELD.sub(lambda field: f"{field[1]}{_LABELS[field[2]]}: ", detail)


def used_words(used: ConnectionUsed) -> str:
    """Return a connection in one line; of the key, only whether there is one."""
    key = "with an API key" if used.has_key else "without an API key"
    # As code, because Markdown would otherwise make a link of it.
    url = used.base_url.replace("`", "")
    return f"{plain(used.default_model, 200)} at `{url}`, {key}"


def instead(connection: ModelConnection) -> str:
    """Return what applies once the saved connection is removed."""
    if connection.environment_is_demo:
        return "Without it, the demo model answers, because the environment sets no endpoint."
    return f"Without it, the environment applies: {used_words(connection.environment)}."
