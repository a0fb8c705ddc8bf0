r"""Writes formulas in the one form that the pages draw: `$$x$$`, `\[x\]` and `\(x\)`. Pure, linear.

Text between single dollar signs is left unchanged: it may be money.
"""

import re

from ui.shared.text.spans import rewrite_prose

MAX_CHARS = 2_000
_DOLLARS = re.compile(r"(?<![\\$])\$\$(?!\$)([^$]{1,2000}?)\$\$(?!\$)")
_BRACKET = re.compile(r"(?<!\\)\\([\[\]()])")
_CLOSING = {"[": "]", "(": ")"}
_SIGN = re.compile(r"[\\^_{=+<>]")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def write_formulas(text: str) -> str:
    """Return Markdown with formulas between lines of `$$`, or within a line as `${x}$`."""
    if "$$" not in text and "\\[" not in text and "\\(" not in text:
        return text
    return rewrite_prose(text, lambda prose: _DOLLARS.sub(_of_dollars, _of_brackets(prose)))


def _of_brackets(text: str) -> str:
    kept: list[str] = []
    end = 0
    opening: re.Match[str] | None = None
    for found in _BRACKET.finditer(text):
        if found[1] in _CLOSING:
            opening = found
            continue
        if opening is None or _CLOSING[opening[1]] != found[1]:
            continue
        inner = text[opening.end() : found.start()]
        if _is_formula(inner, opening[1]):
            is_block = opening[1] == "["
            written = _written(text, opening.start(), found.end(), inner, is_block=is_block)
            kept += [text[end : opening.start()], written]
            end = found.end()
        opening = None
    return "".join(kept) + text[end:]


def _of_dollars(found: re.Match[str]) -> str:
    inner = found[1]
    is_block = _is_alone(found.string, found.start(), found.end())
    if not inner.strip() or _EMPTY_LINE.search(inner):
        return found[0]
    if not is_block and (inner != inner.strip() or "\n" in inner):
        return found[0]
    return _written(found.string, found.start(), found.end(), inner, is_block=is_block)


def _is_formula(inner: str, bracket: str) -> bool:
    if not inner.strip() or len(inner) > MAX_CHARS or "$" in inner or _EMPTY_LINE.search(inner):
        return False
    return "\n" not in inner if bracket == "(" else _SIGN.search(inner) is not None


def _written(text: str, start: int, end: int, inner: str, *, is_block: bool) -> str:
    """Return the formula as a block of its own, within its line, or unchanged."""
    if is_block and _is_alone(text, start, end):
        return f"$$\n{inner.strip()}\n$$"
    if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() or "\n" in inner:
        return text[start:end]
    return f"${{{inner.strip()}}}$"


def _is_alone(text: str, start: int, end: int) -> bool:
    """Return whether the formula's lines contain nothing else."""
    line_start = text.rfind("\n", max(0, start - 200), start) + 1
    if line_start == 0 and start > 200:
        return False
    line_end = text.find("\n", end, end + 200)
    after = text[end : line_end if line_end >= 0 else end + 200]
    return not text[line_start:start].strip() and not after.strip()
