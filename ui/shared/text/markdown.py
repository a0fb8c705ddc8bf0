"""Divides an answer into parts that are drawn one by one, and text made safe for labels. Pure.

What an answer means is decided in `backend.markdown`; Streamlit's own Markdown, which reads
differently, is used for our labels only.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from backend.markdown.html import html_reader
from backend.markdown.notes import NOTE
from ui.shared.text.markup import is_too_much
from ui.shared.text.parts import PART_CHARS

COLON = "&#58;"  # displayed as a colon, and never read as the beginning of a directive
# An invisible character that separates two characters where neither an entity nor a backslash does.
# People copy it with the text, so it is used nowhere else.
JOINER = "\u2060"

_PICTURE = re.compile(
    r"!\[([^\]\n]{0,300})\]\(<?([^)<>\n]{1,500}?)>?(?: \"[^\"\n]{0,200}\")?\)[ \t]*"
)
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$&=])")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_LINE_END = re.compile(r"\r\n?|\n")

Kind = Literal["text", "code", "picture", "verbatim"]


@dataclass(frozen=True)
class Piece:
    """A part of an answer: text as HTML, the code of one fence, or a line that names a picture.

    `verbatim` is text that a browser cannot lay out. `about` is the language of code, or the
    address of a picture, whose `html` is the link to it.
    """

    kind: Kind
    text: str
    html: str = ""
    about: str = ""


@lru_cache(256)
def split_pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of an answer in order.

    An unclosed fence at the end is code: a streaming answer then looks like its final form.
    """
    env: dict[str, Any] = {}
    blocks = _block_reader().parse(text, env)
    lines = _LINE_END.split(text)
    pieces: list[Piece] = []
    start = 0
    for place, block in enumerate(blocks):
        if block.level or block.map is None or block.nesting < 0:
            continue
        first, end = block.map
        own = _own_pieces(block, blocks[place + 1 : place + 2], env)
        if own or sum(map(len, lines[start:first])) > PART_CHARS:
            pieces += _texts(lines[start:first], env)
            start = first
        if own:
            pieces += own
            start = end
    return (*pieces, *_texts(lines[start:], env))


def one_line(text: str) -> str:
    """Return a text without line breaks and characters that change its direction."""
    return _INVISIBLE.sub(" ", text).strip()


def plain(text: str, limit: int = 300) -> str:
    """Return a text for use in labels and sentences: one line, nothing interpreted."""
    line = one_line(text)
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return _without_logo(_PUNCTUATION.sub(r"\\\1", line).replace(":", COLON))


def _own_pieces(block: Token, content: Sequence[Token], env: Mapping[str, Any]) -> list[Piece]:
    """Return what is not drawn as text: code, and the pictures of a paragraph of nothing else."""
    if block.type in ("fence", "code_block"):
        language, *_ = [*block.info.split(), ""]
        return [Piece("code", block.content.removesuffix("\n"), about=language)]
    if block.type != "paragraph_open":
        return []
    lines = [line.strip() for part in content for line in part.content.split("\n")]
    found = [_PICTURE.fullmatch(line) for line in lines]
    pictures = [Piece("picture", one[1], _write(one[0], env), one[2]) for one in found if one]
    return pictures if len(pictures) == len(lines) else []


def _texts(lines: Sequence[str], env: Mapping[str, Any]) -> list[Piece]:
    text = "\n".join(lines).strip("\n")
    if not text.strip():
        return []
    if is_too_much(text):
        return [Piece("verbatim", text)]
    return [Piece("text", text, html)] if (html := _write(text, env)) else []


def _write(text: str, env: Mapping[str, Any]) -> str:
    """Return a part as HTML; what the whole text defines holds in it."""
    written: str = _reader().render(
        text, {"references": dict(env.get("references", {})), NOTE: set(env.get(NOTE, ()))}
    )
    return written


@cache
def _reader() -> MarkdownIt:
    return html_reader()


@cache
def _block_reader() -> MarkdownIt:
    return html_reader().disable("inline")


def _without_logo(text: str) -> str:
    """Escape the word that Streamlit replaces with its logo, even when written with an entity."""
    return text.replace(f"{COLON}streamlit", f"{COLON}{JOINER}streamlit")
