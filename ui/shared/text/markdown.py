"""Makes text that a model or a person wrote safe for Streamlit's Markdown. Pure.

Streamlit never renders HTML unless asked to, but its Markdown loads images from anywhere, reads
`$5 and $6` as LaTeX at times, and knows directives (`:red[..]`, `:material/home:`).
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from backend.tabular.markdown_tables import LINE_BREAK
from ui.shared.text.spans import find_spans, opening_fence

# Displayed as a colon, and never read as the beginning of a directive.
COLON = "&#58;"
# An invisible character that separates two characters where neither an entity nor a backslash does.
# People copy it with the text, so it is used nowhere else.
JOINER = "\u2060"

_DIRECTIVE = re.compile(r"(?<!\\)(\\*+):(?:(?=[a-zA-Z_+\-][\w+\-/ ]*(?:\[|:|\{))|(?=:))")
_EMOJI = re.compile(r":[\w+-]++:")
_NOTE = re.compile(r"^([ \t>]*)(\[\^[^\]\s]+\]:)", re.MULTILINE)
_REFERENCE = re.compile(r"\[\^[^\]\s]+\](?!:)")
_IMAGE = re.compile(r"(?<!\\)(\\*+)!\[")
# A line break that stays within its cell; the style of tables keeps it.
_BREAK_IN_CELL = "&#10;"
_DOLLAR = re.compile(r"(?<!\\)\$")
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&=])")
_UNSURE = frozenset("\n\\<|")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")


@dataclass(frozen=True)
class Piece:
    """A part of an answer: Markdown, or the code of one fence with its language."""

    text: str
    language: str | None = None
    is_code: bool = False


def split_pieces(text: str) -> list[Piece]:
    """Separate Markdown and fenced code, so that code can be shown without interpretation.

    An unclosed fence at the end is code: a streaming answer then looks like its final form.
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


def safe_markdown(text: str) -> str:
    """Return Markdown without images that load anything, directives, or money read as LaTeX.

    An image becomes a link after an exclamation mark: the reader decides whether to open it.
    """
    text = _with_line_breaks(text) if LINE_BREAK.search(text) else text
    escaped = _escape_all(text, "")
    # If any text looks like an emoji, as 10:30:45 does, the browser also resolves entities.
    return _escape_all(text, JOINER) if _EMOJI.search(escaped) else escaped


def _escape_all(text: str, glue: str) -> str:
    """Escape the text between spans; `glue` is inserted into what looks like an emoji."""
    kept: list[str] = []
    references = set(_REFERENCE.findall(text))
    end, is_plain = 0, True
    for start, next_end in find_spans(text):
        between, span = text[end:start], text[start:next_end]
        is_plain = _is_plain_line(between, is_plain) and not _UNSURE & set(span)
        kept += [_escape(_with_notes(between, references), glue), _safe_span(span, is_plain)]
        end = next_end
    return "".join(kept) + _escape(_with_notes(text[end:], references), glue)


def one_line(text: str) -> str:
    """Return a text without line breaks and characters that change its direction."""
    return _INVISIBLE.sub(" ", text).strip()


def plain(text: str, limit: int = 300) -> str:
    """Return a text for use in labels and sentences: one line, nothing interpreted."""
    line = one_line(text)
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _without_logo(_PUNCTUATION.sub(r"\\\1", line).replace(":", COLON))


def _with_line_breaks(text: str) -> str:
    """Return the text with `<br>` as Markdown's own line break, or as a character in a cell."""
    spans = list(find_spans(text))
    starts = [start for start, _ in spans]
    line_ends = [found.start() for found in re.finditer("\n", text)]
    is_row = ["|" in line for line in text.split("\n")]

    def as_break(found: re.Match[str]) -> str:
        span = bisect_right(starts, found.start()) - 1
        if span >= 0 and found.start() < spans[span][1]:
            return found[0]
        return _BREAK_IN_CELL if is_row[bisect_left(line_ends, found.start())] else "\\\n"

    return LINE_BREAK.sub(as_break, text)


def _escape(text: str, glue: str) -> str:
    def as_text(directive: re.Match[str]) -> str:
        backslashes = directive[1][: len(directive[1]) // 2 * 2]
        is_emoji = _EMOJI.match(text, directive.end() - 1)
        return f"{backslashes}{COLON}{glue if is_emoji else ''}"

    text = _IMAGE.sub(_as_link, _DIRECTIVE.sub(as_text, text))
    return _without_logo(_DOLLAR.sub(r"\\$", text))


def _with_notes(text: str, references: set[str]) -> str:
    """Escape footnotes that nothing here refers to: the browser would leave them out.

    An answer is drawn in pieces, and a note may be in another one than its reference.
    """

    def as_text(note: re.Match[str]) -> str:
        return note[0] if note[2][:-1] in references else f"{note[1]}\\{note[2]}"

    return _NOTE.sub(as_text, text)


def _as_link(image: re.Match[str]) -> str:
    is_escaped = len(image[1]) % 2
    return image[0] if is_escaped else f"{image[1]}\\!["


def _without_logo(text: str) -> str:
    """Escape the word that Streamlit replaces with its logo, even when written with an entity."""
    return text.replace(f"{COLON}streamlit", f"{COLON}{JOINER}streamlit")


def _safe_span(span: str, is_sure: bool) -> str:
    """Return a code span or a formula unchanged, except for what Streamlit would alter.

    `is_sure`: the browser also reads it as a span, not as characters around an image.
    """
    span = span.replace(":material/", f":{JOINER}material/")
    return span if is_sure else span.replace("![", f"!{JOINER}[")


def _is_plain_line(text: str, before: bool) -> bool:
    """Return whether the last line has nothing that may end a span early; `before`: so far."""
    _, line_break, line = text.rpartition("\n")
    return (before or bool(line_break)) and not _UNSURE & set(line)


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
