"""Decides whether a browser can lay out a text: Markdown may be written to overload it. Pure.

The limits are far beyond texts written for people, at the point where the pages' Markdown parser
takes seconds: its work on emphasis, brackets and nesting grows with their square, or worse.
"""

import re
from itertools import groupby

MOST_LINES = 3_000
MOST_NESTED = 30
MOST_INDENTED = 100
MOST_HEADINGS = 300
MOST_CELLS = 5_000
MOST_DOLLARS = 600
MOST_IN_BLOCK = {"*": 2_000, "_": 2_000, "~": 2_000, "[": 800, "`": 4_000}
MOST_HIGHLIGHTED = 10_000
LONGEST_HIGHLIGHTED_LINE = 1_000
UNHIGHLIGHTED = ("markdown", "md", "mdx")  # their highlighter may take extremely long

# Markers at the beginning of a line, each of which opens a quote or a list within the previous one.
_OPENING = re.compile(r"(?:[ \t]*+(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*+")
_BLANKS = re.compile(r"[ \t]*+")


def is_too_much(text: str) -> bool:
    """Return whether the text should be shown as plain text. Linear."""
    lines = text.split("\n")
    if len(lines) > MOST_LINES or text.count("$") > MOST_DOLLARS:
        return True
    if sum(map(_is_heading, lines)) > MOST_HEADINGS or any(map(_is_too_deep, lines)):
        return True
    cells = 0
    for is_block, block in groupby(lines, key=lambda line: bool(line.strip())):
        if is_block:
            rows = list(block)
            cells += len(rows) * max(row.count("|") for row in rows)
            if cells > MOST_CELLS or _has_too_many_signs("\n".join(rows)):
                return True
    return False


def highlighted_as(text: str, language: str | None) -> str | None:
    """Return the language for highlighting code; None if that could take too long."""
    is_short = len(text) <= MOST_HIGHLIGHTED and language not in UNHIGHLIGHTED
    if not is_short or max(map(len, text.split("\n"))) > LONGEST_HIGHLIGHTED_LINE:
        return None
    return language


def _is_heading(line: str) -> bool:
    content = line.lstrip(" \t>")
    return content.startswith("#") or (content != "" and set(content) <= set("=- "))


def _is_too_deep(line: str) -> bool:
    opening = _OPENING.match(line)
    blanks = _BLANKS.match(line)
    nested = 0 if opening is None else sum(map(opening[0].count, ">-+*.)"))
    return nested > MOST_NESTED or (blanks is not None and len(blanks[0]) > MOST_INDENTED)


def _has_too_many_signs(block: str) -> bool:
    return any(block.count(sign) > most for sign, most in MOST_IN_BLOCK.items())
