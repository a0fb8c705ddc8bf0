"""Snippets: the words around a match, in parts marked as hit or not. Pure.

Matches are found in the folded text, and marked in the text as it was written.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from unicodedata import category

from backend.conversations.search.folding import fold
from backend.conversations.search.terms import Term, is_unspaced
from backend.schemas.conversations.search import SnippetPart
from backend.text import UNSPACED

BEFORE = 60
LENGTH = 240
CUT = "…"
# Links to artifacts are shown as their titles: an address says nothing to people.
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\(<?artifact:(?:[^()<>]|\([^()<>]*+\))*+>?\)")
# Vowel signs and accents are parts of words, which `\w` does not know; those of emoji are not.
_MARKS = "".join(
    sign
    for sign in map(chr, range(0x300, 0xFE00))
    if category(sign) in ("Mn", "Mc") and not is_unspaced(sign)
)
# A letter that a word without spaces around it may not stand beside.
_LETTER = rf"(?:(?![{UNSPACED}])(?:[^\W_]|[{_MARKS}]))"
_ENDS_BEFORE = rf"(?<![^\W_{UNSPACED}])(?<![{_MARKS}])"

Span = tuple[int, int]


def make_snippet(text: str, terms: Sequence[Term]) -> list[SnippetPart]:
    """Return a line of the text from just before its first hit; without a hit, its beginning."""
    line = _LINK.sub(r"\1", " ".join(text.split()))
    hits = list(_hits(line, terms))
    start = _word_start(line, hits[0][0] - BEFORE) if hits else 0
    end = start + LENGTH
    parts = list(_parts(line, start, min(end, len(line)), hits))
    if start:
        parts.insert(0, SnippetPart(text=CUT, is_hit=False))
    if end < len(line):
        parts.append(SnippetPart(text=CUT, is_hit=False))
    return parts


def _hits(line: str, terms: Sequence[Term]) -> Iterator[Span]:
    """Yield where the terms are written."""
    folded = fold(line)
    pattern = re.compile("|".join(_pattern(term) for term in terms))
    for hit in pattern.finditer(folded.text):
        if hit[0]:
            yield folded.starts[hit.start()], folded.ends[hit.end() - 1]


def _pattern(term: Term) -> str:
    """Return a pattern for the term's words, with any separators.

    Runs of scripts without spaces may be within longer ones; other words are whole.
    """
    words = re.escape(term.words[0])
    for before, word in pairwise(term.words):
        is_beside = is_unspaced(before) or is_unspaced(word)
        words += (r"[\W_]*" if is_beside else r"[\W_]+") + re.escape(word)
    begin = "" if is_unspaced(term.words[0]) else _ENDS_BEFORE
    end = f"{_LETTER}*" if term.is_prefix else f"(?!{_LETTER})"
    return f"{begin}{words}{'' if is_unspaced(term.words[-1]) else end}"


def _word_start(line: str, wanted: int) -> int:
    """Return the start of the next word, unless that is far."""
    if wanted <= 0:
        return 0
    space = line.find(" ", wanted, wanted + BEFORE // 2)
    return wanted if space < 0 else space + 1


def _parts(line: str, start: int, end: int, hits: Sequence[Span]) -> Iterator[SnippetPart]:
    """Yield the line from start to end, cut at the edges of hits."""
    place = start
    for first, last in hits:
        first, last = max(first, place), min(last, end)
        if first >= last:
            continue
        if first > place:
            yield SnippetPart(text=line[place:first], is_hit=False)
        yield SnippetPart(text=line[first:last], is_hit=True)
        place = last
    if place < end:
        yield SnippetPart(text=line[place:end], is_hit=False)
