"""Parsing search queries: words, quoted phrases and the prefix of a last word. Pure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.errors.base import InvalidInput

MAX_TERMS = 20
SHORTEST_PREFIX = 2  # a single letter matches too many words
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


def read_terms(q: str, split: Callable[[Sequence[str]], Sequence[str]]) -> list[Term]:
    """Return the terms that a message must all contain; none if `q` has no letter or digit.

    `split` returns texts with their words, as the index has them, between spaces. `CC-1001` is two
    words that follow each other, as in a phrase. Raise InvalidInput for too many.
    """
    pieces = list(_PIECES.finditer(q.translate(_QUOTES)))
    spaced = split([piece[0] for piece in pieces])
    terms = [
        Term(tuple(words), is_prefix=piece is pieces[-1] and _may_go_on(piece, words[-1]))
        for piece, words in zip(pieces, map(str.split, spaced), strict=True)
        if words
    ]
    if sum(len(term.words) for term in terms) > MAX_TERMS:
        raise InvalidInput(f"A search may have {MAX_TERMS} words at most. Use fewer words.")
    return terms


def _may_go_on(piece: re.Match[str], last_word: str) -> bool:
    is_quoted = piece[2] is None
    return not is_quoted and len(last_word) >= SHORTEST_PREFIX
