"""Makes text that a model or a person wrote safe for Streamlit's Markdown. Pure.

Streamlit never renders HTML unless asked to, but its Markdown loads images from anywhere, reads
`$5 and $6` as LaTeX at times, and knows directives (`:red[..]`, `:material/home:`).
"""

import re
from dataclasses import dataclass

from ui.components.spans import find_spans, opening_fence

# An invisible character that keeps two signs from being read together, also within code spans,
# where an entity or a backslash would show.
JOINER = "\u2060"

_DIRECTIVE = re.compile(r":(?=[a-zA-Z_+\-][\w+\-/ ]*(?:\[|:|\{))|:(?=:)")
_DOLLAR = re.compile(r"(?<!\\)\$")
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&=])")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True)
class Piece:
    """A part of an answer: Markdown, or the code of one fence with its language."""

    text: str
    language: str | None = None
    is_code: bool = False


def split_pieces(text: str) -> list[Piece]:
    """Markdown and fenced code apart, so that code can be shown by an element that reads nothing.

    An open fence at the end is code: an answer that still streams looks like its final form.
    """
    pieces: list[Piece] = []
    lines: list[str] = []
    fence, language = "", ""
    for line in text.split("\n"):
        opening = None if fence else opening_fence(line)
        if opening:
            _add(pieces, lines, None)
            fence, language = opening
        elif fence and _closes(line, fence):
            _add(pieces, lines, language)
            fence = ""
        else:
            lines.append(line)
    _add(pieces, lines, language if fence else None)
    return pieces


def split_finished(text: str) -> tuple[list[Piece], Piece | None]:
    """The pieces of a streaming answer that can change no more, and the last one, which grows.

    Markdown is cut at blank lines before an unindented line, so that a list is not torn apart.
    """
    pieces: list[Piece] = []
    for piece in split_pieces(text):
        if piece.is_code:
            pieces.append(piece)
        else:
            pieces += [Piece(part) for part in re.split(r"\n[ \t]*\n(?=[^\s\-*+\d>|])", piece.text)]
    return (pieces[:-1], pieces[-1]) if pieces else ([], None)


def safe_markdown(text: str) -> str:
    """Markdown without images that call out, directives, or money that is read as LaTeX.

    An image becomes a link after an exclamation mark: the reader decides whether to open it.
    """
    text = text.replace("![", f"!{JOINER}[")
    text = _DIRECTIVE.sub(f":{JOINER}", text)
    kept: list[str] = []
    end = 0
    for start, next_end in find_spans(text):
        kept += [_escape_dollars(text[end:start]), text[start:next_end]]
        end = next_end
    return "".join(kept) + _escape_dollars(text[end:])


def plain(text: str, limit: int = 300) -> str:
    """A text for a label or within a sentence of ours: one line, nothing interpreted."""
    line = _INVISIBLE.sub(" ", text).strip()
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _PUNCTUATION.sub(r"\\\1", line).replace(":", f":{JOINER}")


def _escape_dollars(text: str) -> str:
    return _DOLLAR.sub(r"\\$", text)


def _closes(line: str, fence: str) -> bool:
    mark = line.rstrip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _add(pieces: list[Piece], lines: list[str], language: str | None) -> None:
    text = "\n".join(lines)
    lines.clear()
    if language is not None:
        pieces.append(Piece(text, language or None, is_code=True))
    elif text.strip():
        pieces.append(Piece(text.strip("\n")))
