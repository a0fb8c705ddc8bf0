"""Streaming a response to people: prose as it comes, of a JSON object only its message."""

import re

from backend.fences import OPENING
from backend.llm.asking import Tell
from backend.llm.events import Delta, ModelEvent, Reset
from colloquy_kit.messages.clean import clean_text

_BEGIN = "\x02"  # stands before an answer's first character
_FENCE, _PART_OF_FENCE = OPENING.pattern, r"```(?:js?o?n?)?[^\S\n]*(?:\n\s*)?"
_FIELDS = "taskComplete|message|reasoning|confidence|payloadChangeRequest|nextStep"
# Where a response begins: with the answer itself, or in a fence; and what may yet become that. A
# manager's object is one whatever its first field; other agents may answer with any JSON.
_START = rf"(?:{_BEGIN}\s*(?:{_FENCE})?|{_FENCE})\s*(?=\{{\s*%s)"
_OF_MANAGER, _OF_OTHERS = re.compile(_START % '"'), re.compile(_START % f'"(?:{_FIELDS})"')
_UNDECIDED = re.compile(
    rf"(?:{_BEGIN}\s*(?:{_PART_OF_FENCE})?|{_PART_OF_FENCE})(?:\{{\s*(?:\"\w{{0,30}}\"?)?)?\Z"
    rf"|(?:{_BEGIN}\s*)?`{{1,2}}\Z"
)
_MOST_HELD = 1_000  # characters of the latter
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LONE = "\ufffd"


class ResponseText:
    """Passes a model's text on to people, piece by piece, each character looked at once."""

    def __init__(self, tell: Tell, *, is_manager: bool) -> None:
        self._tell = tell
        self._start = _OF_MANAGER if is_manager else _OF_OTHERS
        self._begin("")

    def __call__(self, event: ModelEvent) -> None:
        """Pass on the text for people, and all events that are not text."""
        if isinstance(event, Reset):
            self._begin("")
        if not isinstance(event, Delta) or not event.text:
            self._tell(event)
            return
        if event.message_id != self._message_id:
            self._begin(event.message_id)
        if event.thinking:
            self._tell(Delta(event.message_id, thinking=event.thinking))
        if text := self._answer.add(event.text):
            self._tell(Delta(event.message_id, text))

    def _begin(self, message_id: str) -> None:
        self._message_id, self._answer = message_id, _Answer(self._start)


class _Answer:
    """One answer: prose, until a response begins in it."""

    def __init__(self, start: re.Pattern[str]) -> None:
        self._start = start
        self._held = _BEGIN
        self._response: _Message | None = None

    def add(self, piece: str) -> str:
        """Return what people read of the answer's next piece."""
        if self._response is not None:
            return self._response.add(piece)
        text = self._held + piece
        if start := self._start.search(text):
            self._response = _Message()
            message = self._response.add(text[start.end() :])
            return text[: start.start()].removeprefix(_BEGIN) + message
        undecided = _UNDECIDED.search(text)
        place = undecided.start() if undecided else len(text)
        if len(text) - place > _MOST_HELD:
            place = len(text)
        self._held = text[place:]
        return text[:place].removeprefix(_BEGIN)


class _Message:
    """The value of `message` in a JSON object, decoded as it arrives."""

    def __init__(self) -> None:
        self._depth = 0
        self._string: _String | None = None
        self._key = ""
        self._is_key = self._is_shown = self._is_done = False

    def add(self, piece: str) -> str:
        """Return what the next piece of the object adds to its message."""
        return "".join(map(self._take, piece))

    def _take(self, char: str) -> str:
        if self._string is None:
            self._take_structure(char)
            return ""
        text = self._string.take(char)
        if self._is_key:
            self._key += text
        shown = text if self._is_shown else ""
        if self._string.has_ended:
            self._is_done = self._is_done or self._is_shown
            self._string = None
        return shown

    def _take_structure(self, char: str) -> None:
        is_outermost = self._depth == 1
        if char == '"':
            self._string = _String()
            if is_outermost and self._is_key:
                self._key = ""
            self._is_shown = (
                is_outermost and not self._is_key and self._key == "message" and not self._is_done
            )
        elif char in "{[":
            self._depth += 1
            self._is_key = self._depth == 1
        elif char in "}]":
            self._depth -= 1
            self._is_done = self._is_done or self._depth <= 0
        elif char in ",:" and is_outermost:
            self._is_key = char == ","


class _String:
    """A JSON string, decoded character by character; halves of surrogate pairs are joined."""

    def __init__(self) -> None:
        self.has_ended = False
        self._escape = ""
        self._high = ""

    def take(self, char: str) -> str:
        """Return the text that is known with this character."""
        if self._escape:
            self._escape += char
            return self._decode()
        if char == "\\":
            self._escape = char
            return ""
        self.has_ended = char == '"'
        return self._lone() + ("" if self.has_ended else clean_text(char))

    def _decode(self) -> str:
        kind, digits = self._escape[1], self._escape[2:]
        if kind == "u" and len(digits) < 4:
            return ""
        self._escape = ""
        if kind != "u":
            return self._lone() + _ESCAPES.get(kind, kind)
        try:
            char = chr(int(digits, 16))
        except ValueError:
            return self._lone() + _LONE
        if "\ud800" <= char <= "\udbff":
            lone, self._high = self._lone(), char
            return lone
        high, self._high = self._high, ""
        return clean_text(high + char)

    def _lone(self) -> str:
        lone, self._high = _LONE if self._high else "", ""
        return lone
