"""Finding mentions of agents in a message: `@Reconciler`, anywhere but in code. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from backend.text import MARKS, UNSPACED, same_name

# Fences also stand in quotations and in items of lists, at any indentation.
OPENING = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s[\s>]*)*(`{3,}(?=[^`]*$)|~{3,})")
CLOSING = re.compile(r"[\s>]*(`{3,}|~{3,})\s*$")
SIGN = rf"(?![_{UNSPACED}])[\w{MARKS}]"  # a letter, its mark or a digit
FULL_WIDTH = "\uff20"  # the @ of East Asian keyboards
BEFORE = rf"(?<!{SIGN})(?<![.@/`])@"
AFTER = rf"(?![_-]*{SIGN})(?![/@]\w)"
# Of the scripts without spaces, where it would have no end, no unknown name is found. Nor may one
# be a decorator such as `@app.get`.
UNKNOWN = rf"(?![\d_{UNSPACED}])\w(?>(?:[\w{MARKS}-]*{SIGN})?)(?![/@.]\w)"
MAIL_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[A-Za-z]")


def find_mentions(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that a text mentions, as written, each once, in order.

    These are the given names, and words that are written like one of an agent. Neither is a mention
    in a code span or fence, after a letter, digit, dot or slash, or as part of an address or a
    package's name: `a@b.c`, `@types/node`. A slash may stand between two mentions: `@A/@B`.
    """
    text = unicodedata.normalize("NFC", text).replace(FULL_WIDTH, "@")
    composed = [unicodedata.normalize("NFC", name) for name in names]
    longest_first = sorted(composed, key=len, reverse=True)
    known = "|".join(map(re.escape, longest_first))
    one = f"(?:(?:{known}){AFTER}|{UNKNOWN})"
    mention = re.compile(f"{BEFORE}({one}(?:/@{one})*)", re.IGNORECASE)
    found: dict[str, str] = {}
    for line in _outside_fences(text.splitlines()):
        for chain in mention.findall(MAIL_ADDRESS.sub(" ", _without_spans(line))):
            for name in chain.split("/@"):
                found.setdefault(same_name(name), name)
    return list(found.values())


def _outside_fences(lines: Iterable[str]) -> Iterator[str]:
    fence, is_quoted = "", False
    for line in lines:
        if is_quoted and not line.lstrip().startswith(">"):
            fence = ""  # a quotation's end is the end of its code
        if fence:
            closed = CLOSING.match(line)
            closes = closed and closed[1][0] == fence[0] and len(closed[1]) >= len(fence)
            fence = "" if closes else fence
        elif opened := OPENING.match(line):
            fence, is_quoted = opened[1], ">" in opened[0]
        else:
            yield line


def _without_spans(line: str) -> str:
    """Return a line without its code spans: the text between two equal runs of backticks."""
    runs = re.split(r"(`+)", line)
    kept, place = [], 0
    while place < len(runs):
        closing = _closing(runs, place) if place % 2 else None
        if closing is None:
            kept.append(runs[place])
            place += 1
        else:
            kept.append(" ")
            place = closing + 1
    return "".join(kept)


def _closing(runs: list[str], opening: int) -> int | None:
    places = range(opening + 2, min(len(runs), opening + 200), 2)
    return next((place for place in places if runs[place] == runs[opening]), None)
