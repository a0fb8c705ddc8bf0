"""Recognises questions that are not about figures: sources, their columns, a SELECT. Pure."""

import re

from backend.demo_model.questions.tokens import read_tokens, written_out
from backend.demo_model.questions.vocabulary import FILLERS

_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
_STATEMENTS = (
    (_SELECT, re.compile(r"\bfrom\b", re.IGNORECASE)),
    (re.compile(r"^\s*with\b", re.IGNORECASE), _SELECT),
)
_STATEMENT = re.compile(r"\b(?:select|with)\b", re.IGNORECASE)
_IN_SOURCE = re.compile(r"\bin (?:source )?`?(\w{1,64})`?\s?:", re.IGNORECASE)
_LONGEST_PREAMBLE = 500

_SOURCES = "data source sources table tables file files dataset datasets"
_SOURCE_WORDS = frozenset(_SOURCES.split())
_LISTED = """
    list available all any exist exists connected kind kinds sort sorts loaded got bundled it this
    these those
"""
_LISTING = FILLERS | frozenset(_LISTED.split())
_RUN = "run execute query sql statement following this result results answer duckdb"
_RUNNING = FILLERS | frozenset(_RUN.split())
_DESCRIBING_WORDS = "describe column columns field fields schema structure"
_DESCRIBING = frozenset(_DESCRIBING_WORDS.split())
_DISMISSING = re.compile(
    r"(?:(?:no|ok|okay|oh|ah|well|please|sorry)[, ]+){0,3}"
    r"(?:never ?mind|forget (?:it|that|about it)|cancel(?: it| that)?|stop(?: it)?|no|nothing"
    r"|ok|okay|no thanks?(?: you)?|thanks?(?: you| a lot| very much)?)"
    r"(?:[, ]+(?:thanks?(?: you)?|never ?mind|then|please))?[.! ]{0,3}",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w{0,63}(?:\.\w{1,64}){0,2}")
_AROUND_NAMES = ".,;:?!`'\"()"


def dismisses(text: str) -> bool:
    """Return whether the text asks for nothing: it thanks, or takes back what was asked."""
    return _DISMISSING.fullmatch(text.strip()) is not None


def holds_select(text: str) -> bool:
    """Return whether the text contains a statement; linear in its length."""
    for first, then in _STATEMENTS:
        begun = first.search(text)
        if begun and then.search(text, begun.end()):
            return True
    return False


def split_select(text: str) -> tuple[str, str, str]:
    """Return a question's SELECT, the source named before it, and the words not understood."""
    begun = _STATEMENT.search(text)
    if begun is None:
        return "", "fi", ""
    preamble = text[: begun.start()]
    statement = text[begun.start() :].replace("```", "").strip().rstrip(";")
    if len(preamble) > _LONGEST_PREAMBLE:
        return statement, "fi", f"{preamble[:80]}…"
    preamble = " ".join(preamble.split())
    source = _IN_SOURCE.search(preamble)
    rest = _IN_SOURCE.sub(" ", preamble)
    unread = [token for token in read_tokens(rest) if token.plain not in _RUNNING]
    return statement, source[1].lower() if source else "fi", written_out(unread)


def is_about_sources(text: str) -> bool:
    """Return whether the whole text asks which sources there are."""
    words = [token.plain for token in read_tokens(text)]
    about = any(word in _SOURCE_WORDS for word in words)
    return about and all(word in _SOURCE_WORDS or word in _LISTING for word in words)


def asks_to_describe(text: str) -> bool:
    """Return whether the text asks for the columns of something."""
    return any(token.plain in _DESCRIBING for token in read_tokens(text))


def described_names(text: str) -> list[str]:
    """Return the words of a question for columns that can only be names of sources or tables."""
    fillers = FILLERS | _DESCRIBING | _SOURCE_WORDS | {"all", "list"}
    words = [word.strip(_AROUND_NAMES) for word in text.split()]
    return list(dict.fromkeys(w.lower() for w in words if w and w.lower() not in fillers))


def is_name(word: str) -> bool:
    """Return whether a word can be a source's or a table's name."""
    return _NAME.fullmatch(word) is not None
