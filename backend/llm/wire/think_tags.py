"""Separating thinking that a model writes into its text, in tags around its beginning. Pure."""

import re
from typing import NamedTuple

OPEN, CLOSE = "<think>", "</think>"
MAX_BLANKS = 1_000
MAX_MENTIONS = 20  # each costs a look at the whole text before it
_MARK = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})|(?P<span>`+)|(?P<open><think>)|\n", re.MULTILINE
)
_OPENING_QUOTE = re.compile(r"(?:^|[\s(])[\"'“«]\Z")


class Split(NamedTuple):
    """A piece's thinking and text; if `is_late`, all text before it was thinking, too."""

    thinking: str = ""
    text: str = ""
    is_late: bool = False


class ThinkTags:
    """Splits a text that arrives in pieces; `raw` is all of it if it has thinking in tags.

    The opening tag is at the very beginning, or absent where it was the end of the prompt: then
    the first closing tag ends the thinking, unless it is in code or in quotation marks, or after
    an opening one. All other tags are text: an answer may mention them.
    """

    def __init__(self) -> None:
        self._all: list[str] = []
        self._begun = ""
        self._held = ""
        self._mentions = 0
        self._is_tagged = False
        self._is_thinking = False
        self._is_text = False
        self._is_first = False

    @property
    def raw(self) -> str:
        """Return the whole text with its tags; empty if it has no thinking in tags."""
        return "".join(self._all) if self._is_tagged else ""

    def add(self, piece: str) -> Split:
        """Return the piece's thinking and text; a partial opening tag is held back."""
        self._all.append(piece)
        if self._is_thinking:
            return self._inside(piece)
        if self._is_text:
            return Split(text=self._text(piece)) if self._is_tagged else self._untagged(piece)
        self._begun += piece
        begun = self._begun.lstrip()
        if begun.startswith(OPEN):
            self._is_tagged = self._is_thinking = True
            return self._inside(begun[len(OPEN) :])
        if OPEN.startswith(begun) and len(self._begun) <= MAX_BLANKS:
            return Split()
        self._is_text = True
        return self._untagged(self._begun)

    def end(self) -> Split:
        """Return what was held back at the end."""
        if self._is_text:
            return Split()
        if self._is_thinking:
            held, self._held = self._held, ""
            return Split(thinking=held)
        begun, self._begun = self._begun, ""
        return Split(text=begun)

    def _inside(self, piece: str) -> Split:
        text = self._held + piece
        self._held = ""
        thinking, close, rest = text.partition(CLOSE)
        if close:
            return Split(thinking, self._first_text(rest))
        half = next((n for n in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:n])), 0)
        self._held = text[len(text) - half :]
        return Split(thinking=text[: len(text) - half])

    def _untagged(self, piece: str) -> Split:
        """Return the piece as text, or split the whole text if the piece ends its thinking."""
        text = self._held + piece
        self._held = text[1 - len(CLOSE) :]
        if CLOSE not in text or self._mentions > MAX_MENTIONS:
            return Split(text=piece)
        whole, new = "".join(self._all), len(text)
        place = whole.find(CLOSE, len(whole) - new)
        while place >= 0 and self._mentions <= MAX_MENTIONS:
            if not _is_mentioned_after(whole[:place]):
                self._is_tagged = True
                rest = self._first_text(whole[place + len(CLOSE) :])
                return Split(whole[:place], rest, is_late=True)
            self._mentions += 1
            place = whole.find(CLOSE, place + 1)
        return Split(text=piece)

    def _first_text(self, rest: str) -> str:
        self._is_thinking, self._is_text, self._is_first = False, True, True
        return self._text(rest)

    def _text(self, piece: str) -> str:
        """Return the text after the thinking, without leading blanks."""
        if self._is_first:
            piece = piece.lstrip()
            self._is_first = not piece
        return piece


def without_thinking(text: str) -> str:
    """Return a whole answer's text without its thinking in tags."""
    tags = ThinkTags()
    return tags.add(text).text + tags.end().text


def _is_mentioned_after(before: str) -> bool:
    """Return whether a closing tag after this text is a part of the text. In linear time."""
    fence = span = ""
    for mark in _MARK.finditer(before):
        if fence:
            fence = "" if (mark["fence"] or "").startswith(fence) else fence
        elif mark["fence"]:
            fence = mark["fence"]
        elif mark["span"]:
            span = "" if span == mark["span"] else span or mark["span"]
        elif not mark["open"]:
            span = ""
        elif not span:
            return True
    return bool(fence or span or _OPENING_QUOTE.search(before[-2:]))
