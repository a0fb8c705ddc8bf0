"""Separating thinking that a model writes into its text, in tags at the very beginning. Pure."""

OPEN, CLOSE = "<think>", "</think>"
MAX_BLANKS = 1_000


class ThinkTags:
    """Splits a text that arrives in pieces; `raw` is all of it if it begins with the tag.

    Elsewhere the tags are text: an answer may mention them.
    """

    def __init__(self) -> None:
        self._raw: list[str] = []
        self._begun = ""
        self._held = ""
        self._is_thinking = False
        self._is_text = False
        self._is_first = False

    @property
    def raw(self) -> str:
        """Return the whole text with its tags; empty if it does not begin with one."""
        return "".join(self._raw)

    def add(self, piece: str) -> tuple[str, str]:
        """Return the piece's thinking and text; a partial tag is held back."""
        if self._raw:
            self._raw.append(piece)
        if self._is_text:
            return "", self._text(piece)
        if self._is_thinking:
            return self._inside(piece)
        self._begun += piece
        begun = self._begun.lstrip()
        if begun.startswith(OPEN):
            self._raw, self._is_thinking = [self._begun], True
            return self._inside(begun[len(OPEN) :])
        if OPEN.startswith(begun) and len(self._begun) <= MAX_BLANKS:
            return "", ""
        self._is_text = True
        return "", self._begun

    def end(self) -> tuple[str, str]:
        """Return what was held back, as thinking and text, at the end."""
        if self._is_text:
            return "", ""
        if self._is_thinking:
            held, self._held = self._held, ""
            return held, ""
        begun, self._begun = self._begun, ""
        return "", begun

    def _inside(self, piece: str) -> tuple[str, str]:
        text = self._held + piece
        self._held = ""
        thinking, close, rest = text.partition(CLOSE)
        if close:
            self._is_text = self._is_first = True
            return thinking, self._text(rest)
        half = next((n for n in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:n])), 0)
        self._held = text[len(text) - half :]
        return text[: len(text) - half], ""

    def _text(self, piece: str) -> str:
        """Return the text after the thinking, without leading blanks."""
        if self._is_first:
            piece = piece.lstrip()
            self._is_first = not piece
        return piece


def without_thinking(text: str) -> str:
    """Return a whole answer's text without the thinking in tags at its beginning."""
    tags = ThinkTags()
    return tags.add(text)[1] + tags.end()[1]
