"""Snippets: the words around a match, in parts marked as hit or not. Pure."""

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from backend.conversations.search.terms import Term
from backend.schemas.conversations.search import SnippetPart

BEFORE = 60
LENGTH = 240
CUT = "…"
# Links to artifacts are shown as their titles: an address says nothing to people.
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\(<?artifact:(?:[^()<>]|\([^()<>]*+\))*+>?\)")
# Vowel signs and accents are parts of words, which `\w` does not know; those of emoji are not.
_MARKS = "".join(c for c in map(chr, range(0x300, 0xFE00)) if category(c) in ("Mn", "Mc"))
_LETTER = rf"(?:[^\W_]|[{_MARKS}])"


def make_snippet(text: str, terms: Sequence[Term]) -> list[SnippetPart]:
    """Return a line of the text from just before its first hit; without a hit, its beginning."""
    line = _LINK.sub(r"\1", " ".join(text.split()))
    pattern = re.compile("|".join(_pattern(term) for term in terms), re.IGNORECASE)
    first = pattern.search(line)
    start = _word_start(line, first.start() - BEFORE) if first else 0
    end = start + LENGTH
    shown = line[start:end]
    parts = list(_parts(shown, pattern))
    if start:
        parts.insert(0, SnippetPart(text=CUT, is_hit=False))
    if end < len(line):
        parts.append(SnippetPart(text=CUT, is_hit=False))
    return parts


def _pattern(term: Term) -> str:
    """Return a pattern for the term's words at word boundaries, with any separators."""
    words = r"[\W_]+".join(re.escape(word) for word in term.words)
    return rf"(?<!{_LETTER}){words}" + (f"{_LETTER}*" if term.is_prefix else f"(?!{_LETTER})")


def _word_start(line: str, wanted: int) -> int:
    """Return the start of the next word, unless that is far."""
    if wanted <= 0:
        return 0
    space = line.find(" ", wanted, wanted + BEFORE // 2)
    return wanted if space < 0 else space + 1


def _parts(line: str, pattern: re.Pattern[str]) -> Iterator[SnippetPart]:
    end = 0
    for hit in pattern.finditer(line):
        if hit.start() > end:
            yield SnippetPart(text=line[end : hit.start()], is_hit=False)
        yield SnippetPart(text=hit[0], is_hit=True)
        end = hit.end()
    if end < len(line):
        yield SnippetPart(text=line[end:], is_hit=False)
