"""Parsing search queries: words, quoted phrases and the prefix of a last word. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from backend.errors.base import InvalidInput
from backend.text import UNSPACED

MAX_TERMS = 20
SHORTEST_PREFIX = 2  # a single letter matches too many words
LONGEST_WORD = 500  # characters that the index compares
_QUOTES = str.maketrans(dict.fromkeys("„“”‟«»", '"'))
_PIECES = re.compile(r'"([^"]*)"?|([^\s"]+)')
_RUN = re.compile(rf"[{UNSPACED}]+|[^{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")


@dataclass(frozen=True)
class Term:
    """Words that follow each other; `is_prefix`: the last one may be longer.

    A run of letters of a script without spaces is a word, and is found within longer runs.
    """

    words: tuple[str, ...]
    is_prefix: bool = False

    @property
    def query(self) -> str:
        """Return what the index is asked for, in the notation of `tsquery`."""
        lexemes = [lexeme for lexemes in self._lexemes() for lexeme in lexemes]
        is_single_sign = is_unspaced(self.words[-1]) and len(self.words[-1]) == 1
        end = ":*" if self.is_prefix or is_single_sign else ""
        return " <-> ".join(f"'{lexeme}'" for lexeme in lexemes) + end

    def _lexemes(self) -> Iterator[list[str]]:
        """Yield the words of the index for each word, as `cut_words` of the schema cuts them.

        Its last sign alone is only where a run ends, and the last word may be within a run.
        """
        for place, word in enumerate(self.words, 1):
            pieces = [word[n : n + 2] for n in range(len(word))] if is_unspaced(word) else []
            is_last = place == len(self.words) and len(pieces) > 1
            yield pieces[:-1] if is_last else pieces or [word[:LONGEST_WORD]]


def is_unspaced(word: str) -> bool:
    """Return whether a word is a run of letters of a script without spaces."""
    return _UNSPACED.match(word) is not None


def read_terms(q: str, split: Callable[[Sequence[str]], Sequence[str]]) -> list[Term]:
    """Return the terms that a message must all contain; none if `q` has no letter or digit.

    `split` returns texts with their words, as the index has them, between spaces. `CC-1001` is two
    words that follow each other, as in a phrase. Raise InvalidInput for too many.
    """
    pieces = list(_PIECES.finditer(q.translate(_QUOTES)))
    spaced = [_RUN.findall(one) for one in split([piece[0] for piece in pieces])]
    runs = [[word for run in found for word in run.split()] for found in spaced]
    terms = [
        Term(tuple(words), is_prefix=piece is pieces[-1] and _may_go_on(piece, words[-1]))
        for piece, words in zip(pieces, runs, strict=True)
        if words
    ]
    if sum(len(term.words) for term in terms) > MAX_TERMS:
        raise InvalidInput(f"A search may have {MAX_TERMS} words at most. Use fewer words.")
    return terms


def _may_go_on(piece: re.Match[str], last_word: str) -> bool:
    is_quoted = piece[2] is None
    return not is_quoted and len(last_word) >= SHORTEST_PREFIX and not is_unspaced(last_word)
