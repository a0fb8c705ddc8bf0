"""Streaming a response to people: of its JSON, only the message."""

from langchain_core.utils.json import parse_partial_json

from backend.llm.asking import Tell
from backend.llm.events import Delta, ModelEvent, Reset

EVERY = 24  # characters between two parses, each of which reads the whole text
MOST_CHARACTERS = 100_000  # beyond this, the message is shown once complete


class ResponseText:
    """Filters a model's text on its way to people.

    Text that begins like JSON is held back, except for its `message`. A manager's other text is
    held back too, because the manager is asked again for a response.
    """

    def __init__(self, tell: Tell, *, is_manager: bool) -> None:
        self._tell = tell
        self._is_manager = is_manager
        self._message_id = ""
        self._text = ""
        self._looked = 0
        self._shown = 0

    def __call__(self, event: ModelEvent) -> None:
        """Pass on the text for people, and all events that are not text."""
        if isinstance(event, Reset):
            self._begin("")
        if not isinstance(event, Delta) or not event.text:
            self._tell(event)
            return
        if event.message_id != self._message_id:
            self._begin(event.message_id)
        self._text += event.text
        if event.thinking:
            self._tell(Delta(event.message_id, thinking=event.thinking))
        if text := self._readable():
            self._tell(Delta(event.message_id, text))

    def _begin(self, message_id: str) -> None:
        self._message_id, self._text = message_id, ""
        self._looked = self._shown = 0

    def _readable(self) -> str:
        """Return the text that has become readable since the last call."""
        start = self._text.lstrip()
        if start and not start.startswith(("{", "`")):
            text = "" if self._is_manager else self._text
        else:
            text = self._message()
        new, self._shown = text[self._shown :], max(self._shown, len(text))
        return new

    def _message(self) -> str:
        if len(self._text) > MOST_CHARACTERS or len(self._text) - self._looked < EVERY:
            return ""
        self._looked = len(self._text)
        try:
            given = parse_partial_json(self._text[self._text.find("{") :])
        except ValueError:
            return ""
        message = given.get("message") if isinstance(given, dict) else None
        return message if isinstance(message, str) else ""
