"""Finding mentions of agents in a message: `@Reconciler`, anywhere but in code. Pure."""

import re
from collections.abc import Iterable, Iterator

# Fences also stand in quotations and in items of lists, at any indentation.
OPENING = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s[\s>]*)*(`{3,}(?=[^`]*$)|~{3,})")
CLOSING = re.compile(r"[\s>]*(`{3,}|~{3,})\s*$")
MENTION = re.compile(r"(?<![^\W_])(?<![.@/`])@([^\W\d_](?:[\w-]*[^\W_])?)")


def find_mentions(text: str) -> list[str]:
    """Return the names that a text mentions, as written, each once, in order.

    A name in a code span or fence is not a mention, nor is one after a letter, digit, dot or slash:
    `a@b.c` is an address.
    """
    found: dict[str, str] = {}
    for line in _outside_fences(text.splitlines()):
        for name in MENTION.findall(_without_spans(line)):
            found.setdefault(name.lower(), name)
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
