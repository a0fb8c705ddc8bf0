"""Parsing search queries: words, quoted phrases and the prefix of a last word. Pure."""

import re
from dataclasses import dataclass

from backend.errors.base import InvalidInput

MAX_TERMS = 20
SHORTEST_PREFIX = 2  # a single letter matches too many words
WORD = re.compile(r"[^\W_]+")
_QUOTES = str.maketrans(dict.fromkeys("„“”‟«»", '"'))
_PIECES = re.compile(r'"([^"]*)"?|([^\s"]+)')


@dataclass(frozen=True)
class Term:
    """Words that follow each other; `is_prefix`: the last one may be longer."""

    words: tuple[str, ...]
    is_prefix: bool = False

    @property
    def text(self) -> str:
        """Return the words as one text."""
        return " ".join(self.words)


def read_terms(q: str) -> list[Term]:
    """Return the terms that a message must all contain; none if `q` has no letter or digit.

    `CC-1001` is two words that follow each other, as in a phrase. Raise InvalidInput for too many.
    """
    pieces = list(_PIECES.finditer(q.translate(_QUOTES)))
    terms = [
        Term(tuple(words), is_prefix=piece is pieces[-1] and _may_go_on(piece, words[-1]))
        for piece in pieces
        if (words := WORD.findall(piece[0]))
    ]
    if sum(len(term.words) for term in terms) > MAX_TERMS:
        raise InvalidInput(f"A search may have {MAX_TERMS} words at most. Use fewer words.")
    return terms


def _may_go_on(piece: re.Match[str], last_word: str) -> bool:
    is_quoted = piece[2] is None
    return not is_quoted and len(last_word) >= SHORTEST_PREFIX
