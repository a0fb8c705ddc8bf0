"""Finds delimited spans in Markdown: fences, code spans, formulas. In one pass, pure.

Each character is read a bounded number of times, because the text may be hostile.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator

# The most characters between the dollars of a formula within a sentence.
REACH_CHARS = 200
SHORTEST_FENCE = 3

_TOKEN = re.compile(r"`+|\$")
_LANGUAGE = re.compile(r"\S*")
_FORMULA_SIGN = re.compile(r"[\\^_{=]")
_BEFORE_FORMULA = re.compile(r"[\\$\w]")
_AFTER_FORMULA = re.compile(r"[\w$]")
_BACKTICKS = re.compile(r"`+")
_PARAGRAPH_BREAK = re.compile(r"(?=\n\n)")
_RULE = re.compile(r"^\$\$[ \t]*$", re.MULTILINE)


def opening_fence(line: str) -> tuple[str, str] | None:
    """Return the fence characters and language of a line that opens a fence; None for others."""
    sign = line[:1]
    if sign not in ("`", "~"):
        return None
    rest = line.lstrip(sign)
    signs = len(line) - len(rest)
    if signs < SHORTEST_FENCE or "`" in rest:
        return None
    language = _LANGUAGE.match(rest.lstrip(" \t"))
    return sign * signs, language[0] if language else ""


def find_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of code spans and formulas, in order."""
    places = _Places(text)
    end = 0
    for token in _TOKEN.finditer(text):
        start = token.start()
        if start < end:
            continue
        if token[0] == "$":
            found = _end_of_formula(text, start) or places.end_of_block(start)
        else:
            found = places.end_of_code(token)
        if found:
            yield start, found
            end = found


def rewrite_prose(text: str, rewrite: Callable[[str], str]) -> str:
    """Return a text with all but its code spans and formulas rewritten."""
    parts: list[str] = []
    end = 0
    for start, next_end in find_spans(text):
        parts += [rewrite(text[end:start]), text[start:next_end]]
        end = next_end
    return "".join(parts) + rewrite(text[end:])


class _Places:
    """The places in a text where spans may end, indexed so that no search starts again."""

    def __init__(self, text: str) -> None:
        self._breaks = [found.start() for found in _PARAGRAPH_BREAK.finditer(text)]
        self._rules = {found.start(): found.end() for found in _RULE.finditer(text)}
        self._rule_starts = list(self._rules)
        self._runs: dict[int, list[int]] = defaultdict(list)
        for run in _BACKTICKS.finditer(text):
            self._runs[len(run[0])].append(run.start())

    def end_of_code(self, opening: re.Match[str]) -> int | None:
        """Return where the code ends: after the next run of equally many backticks."""
        signs = len(opening[0])
        closing = self._next(self._runs[signs], opening.end())
        return None if closing is None else closing + signs

    def end_of_block(self, start: int) -> int | None:
        """Return where a formula between two lines of `$$` ends."""
        opening = self._rules.get(start)
        closing = None if opening is None else self._next(self._rule_starts, opening + 1)
        return None if closing is None else self._rules[closing]

    def _next(self, places: list[int], start: int) -> int | None:
        """Return the first of the places from `start` on, within the same paragraph."""
        number, limit = bisect_left(places, start), bisect_left(self._breaks, start)
        if number == len(places):
            return None
        found = places[number]
        return None if limit < len(self._breaks) and self._breaks[limit] < found else found


def _end_of_formula(text: str, start: int) -> int | None:
    """Return where a formula within a line ends, if one begins here; money is not a formula."""
    if start and _BEFORE_FORMULA.match(text[start - 1]):
        return None
    furthest = start + 2 * REACH_CHARS + 3
    end = text.find("$", start + 1, furthest)
    content = text[start + 1 : end]
    if end < 0 or not content or content[0].isspace() or content[-1].isspace() or "\n" in content:
        return None
    near = content[max(0, len(content) - REACH_CHARS - 1) : REACH_CHARS + 1]
    if content[-1] == "\\" or not _FORMULA_SIGN.search(near):
        return None
    return None if _AFTER_FORMULA.match(text[end + 1 : end + 2]) else end + 1
