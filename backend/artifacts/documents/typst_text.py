"""Writes text in Typst's notation such that it is shown as it is. Pure.

All text of a document becomes string literals: none of it is markup, code or a file name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from backend.markdown.dialect import is_linked, words_of
from backend.markdown.formulas import FORMULA
from backend.markdown.notes import NOTE

NOTHING = "[]"
LONGEST_WORD = 30  # a longer word may be broken, so that it stays on the page
_BREAK = "\u200b"
_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}
_CONTROLS = {code: "\ufffd" for code in (*range(32), 127, *range(0xD800, 0xE000)) if code != 10}
_LITERAL = _CONTROLS | {ord("\t"): "    "} | _ESCAPES


@dataclass(frozen=True)
class Run:
    """Text in one style; `link` is its target."""

    text: str
    is_strong: bool = False
    is_emphasised: bool = False
    is_struck: bool = False
    is_code: bool = False
    is_raised: bool = False
    link: str = ""


def literal(text: str) -> str:
    """Return the string literal for exactly this text."""
    return f'"{text.translate(_LITERAL)}"'


def breakable(text: str) -> str:
    """Return a text whose long words may be broken, at invisible places."""
    if len(text) <= LONGEST_WORD:
        return text
    return " ".join(_parted(word) for word in text.split(" "))


def write_runs(runs: Sequence[Run]) -> str:
    """Return content that shows these runs one after the other."""
    written = [_write(run) for run in runs if run.text]
    if not written:
        return NOTHING
    together = "\n".join(written)
    return together if len(written) == 1 else f"{{{together}}}"


def write_inline(tokens: Sequence[Token] | None) -> str:
    """Return the content of a line of Markdown."""
    return write_runs(read_runs(tokens))


def read_runs(tokens: Sequence[Token] | None) -> list[Run]:
    """Return the runs of a line; nested styles are combined."""
    runs: list[Run] = []
    depth = {"strong": 0, "em": 0, "s": 0}
    link = ""
    for token in tokens or ():
        name, _, end = token.type.rpartition("_")
        if name in depth:
            depth[name] += 1 if end == "open" else -1
        elif name == "link":
            link = str(token.attrGet("href") or "") if end == "open" else ""
        else:
            run = Run(words_of([token]), depth["strong"] > 0, depth["em"] > 0, depth["s"] > 0)
            is_code, is_raised = token.type in ("code_inline", FORMULA), token.type == NOTE
            _add(runs, replace(run, is_code=is_code, is_raised=is_raised, link=link))
    return runs


def _add(runs: list[Run], run: Run) -> None:
    """Add text; adjacent text in the same style becomes one run."""
    if runs and not run.is_code and replace(runs[-1], text="") == replace(run, text=""):
        runs[-1] = replace(run, text=runs[-1].text + run.text)
    else:
        runs.append(run)


def _write(run: Run) -> str:
    code = literal(breakable(run.text))
    if run.is_code:
        code = f"raw({code})"
    for is_so, name in (
        (run.is_strong, "strong"),
        (run.is_emphasised, "emph"),
        (run.is_struck, "strike"),
        (run.is_raised, "super"),
    ):
        if is_so:
            code = f"{name}({code})"
    return f"link({literal(run.link)}, {code})" if is_linked(run.link) else code


def _parted(word: str) -> str:
    if len(word) <= LONGEST_WORD:
        return word
    size = LONGEST_WORD
    return _BREAK.join(word[start : start + size] for start in range(0, len(word), size))
