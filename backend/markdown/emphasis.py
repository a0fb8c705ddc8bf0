"""Emphasis beside letters of scripts whose words have no space between them, and digits. Pure.

CommonMark asks for a space or punctuation beside `**` that follows punctuation, so that
`**Q2 (2026)**的` would not be bold. As proposed in github.com/tats-u/markdown-cjk-friendly, a
character of such a script, or of its punctuation, counts as that neighbour. Between two digits
asterisks multiply: `10*20 and 30*40` is not 1020 and 3040. `ui/assets/dialect.js` has the same
rules.
"""

import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline.state_inline import Scanned, StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from backend.text import UNSPACED

# Letters, and the punctuation that is written among them: 。、《》, fullwidth forms.
_CLOSE = re.compile(
    rf"[{UNSPACED}\u1100-\u11ff\u3000-\u3004\ufe30-\ufe4f\uff00-\uff65\U00020000-\U0003ffff]"
)


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        """Return whether the markers from `start` on can open and close emphasis."""
        marker, end = self.src[start], start
        while end < self.posMax and self.src[end] == marker:
            end += 1
        before = self.src[start - 1] if start else " "
        after = self.src[end] if end < self.posMax else " "
        if marker == "*" and before.isdecimal() and after.isdecimal():
            return Scanned(False, False, end - start)
        opens, closes = _faces(after, before), _faces(before, after)
        return Scanned(
            opens and (canSplitWord or not closes or _is_punctuation(before)),
            closes and (canSplitWord or not opens or _is_punctuation(after)),
            end - start,
        )


class InlineParser(ParserInline):
    """The parser of a line's content, with these rules."""

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """Read a line's content into tokens."""
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def _faces(inner: str, outer: str) -> bool:
    """Return whether markers between the two stand at the edge of the inner character's text."""
    if isWhiteSpace(ord(inner)):
        return False
    if not _is_punctuation(inner) or _CLOSE.match(inner):
        return True
    return isWhiteSpace(ord(outer)) or _is_punctuation(outer) or _CLOSE.match(outer) is not None


def _is_punctuation(character: str) -> bool:
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)
