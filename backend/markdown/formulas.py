r"""Formulas: `$$x$$`, `\[x\]`, `\(x\)`, and `$x^2$` where it cannot be money. Pure, linear.

Between single dollars something must be written that no amount has: one of `\ ^ _ { =`.
`ui/assets/dialect.js` has the same rule.
"""

import re

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

FORMULA = "formula"
LONGEST = 5_000
REACH = 400  # characters between single dollars
_CLOSING = {"$$": "$$", "\\[": "\\]"}
_SIGN = re.compile(r"[\\^_{=+<>]")
_SIGN_WITHIN_LINE = re.compile(r"[\\^_{=]")
_WORD = re.compile(r"[A-Za-z0-9_$]")


def read_line_formula(state: StateInline, silent: bool) -> bool:
    """Read a formula within a line."""
    opening = state.src[state.pos : state.pos + 2]
    if opening[:1] not in ("$", "\\") or _WORD.fullmatch(state.src[state.pos - 1 : state.pos]):
        return False
    if opening in ("\\(", "\\["):
        found = _of_brackets(state, "\\)" if opening == "\\(" else "\\]")
    elif opening == "$$":
        found = _between(state, 2, "$$", LONGEST)
    else:
        found = _of_dollars(state) if opening[0] == "$" else None
    if found is None:
        return False
    content, end = found
    if _WORD.fullmatch(state.src[end : end + 1]):
        return False
    if not silent:
        state.push(FORMULA, "code", 0).content = content.strip()
    state.pos = end
    return True


def read_block_formula(state: StateBlock, line: int, end_line: int, silent: bool) -> bool:
    """Read a formula on lines of its own."""
    text = _line(state, line)
    closing = _CLOSING.get(text[:2])
    if closing is None or state.is_code_block(line):
        return False
    lines, last = [text[2:]], line
    while not lines[-1].endswith(closing):
        last += 1
        if closing in lines[-1] or last >= end_line or not _continues(state, last):
            return False
        lines.append(_line(state, last))
    content = "\n".join(lines)[: -len(closing)].strip()
    if not _is_formula(content, LONGEST) or (closing == "\\]" and not _SIGN.search(content)):
        return False
    if not silent:
        token = state.push(FORMULA, "pre", 0)
        token.block, token.content, token.map = True, content, [line, last + 1]
        state.line = last + 1
    return True


def _of_brackets(state: StateInline, closing: str) -> tuple[str, int] | None:
    found = _between(state, 2, closing, LONGEST, is_trimmed=False)
    if found is None or closing == "\\)":
        return found
    return found if _SIGN.search(found[0]) else None


def _of_dollars(state: StateInline) -> tuple[str, int] | None:
    found = _between(state, 1, "$", REACH)
    if found is None or found[0].endswith("\\"):
        return None
    return found if _SIGN_WITHIN_LINE.search(found[0]) else None


def _between(
    state: StateInline, opening: int, closing: str, longest: int, *, is_trimmed: bool = True
) -> tuple[str, int] | None:
    """Return what is between the marks, and where the closing one ends."""
    start = state.pos + opening
    end = state.src.find(closing, start, min(state.posMax, start + longest + len(closing)))
    content = state.src[start:end]
    if end < 0 or "\n" in content or not _is_formula(content, longest):
        return None
    if is_trimmed and content != content.strip():
        return None
    return content, end + len(closing)


def _is_formula(content: str, longest: int) -> bool:
    return bool(content.strip()) and "$" not in content and len(content) <= longest


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _continues(state: StateBlock, line: int) -> bool:
    return not state.isEmpty(line) and state.sCount[line] >= state.blkIndent
