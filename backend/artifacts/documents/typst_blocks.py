"""Writes a document's parsed Markdown as Typst. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence

from markdown_it.token import Token

from backend.artifacts.documents.charts import Figure, Figures, figure_at
from backend.artifacts.documents.typst_text import (
    NOTHING,
    breakable,
    literal,
    read_runs,
    write_inline,
    write_runs,
)
from backend.markdown.formulas import FORMULA

_NUMBER = re.compile(r"[-+\u2212(]?\s*\d[\d.,'\u2019 \u00a0\u202f]*+\s*+%?\)?")
_BLANK = re.compile(r"\n[ \t]*(?=\n)")
_EMPTY_CELLS = ("", "-", "\u2013", "\u2014")
_ALIGNMENTS = {"right": "right", "center": "center", "left": "left"}


class Blocks:
    """Writes the tokens of a document as Typst, in one pass."""

    def __init__(self, tokens: Sequence[Token], figures: Figures) -> None:
        self._tokens = tokens
        self._figures = figures
        self._place = 0

    def title(self) -> str:
        """Return and skip the heading that a document begins with, if any."""
        first = self._tokens[0] if self._tokens else None
        if first is None or (first.type, first.tag) != ("heading_open", "h1"):
            return ""
        self._place = 3
        return write_inline(self._tokens[1].children)

    def write(self, closing: str = "") -> str:
        """Return all blocks up to a closing token, or to the end, one per line."""
        written: list[str] = []
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            self._place += 1
            if token.type == closing:
                break
            written.append(_BLOCKS.get(token.type, Blocks._nothing)(self, token))
        return "\n".join(one for one in written if one)

    def _content(self, closing: str) -> str:
        content = self.write(closing)
        return f"{{{content}}}" if content else NOTHING

    def _nothing(self, token: Token) -> str:
        return ""

    def _inline(self, token: Token) -> str:
        return write_inline(token.children)

    def _paragraph(self, token: Token) -> str:
        content = self.write("paragraph_close")
        return content if token.hidden or not content else f"par({content})"

    def _heading(self, token: Token) -> str:
        return f"heading(level: {int(token.tag[1])}, {self._content('heading_close')})"

    def _list(self, token: Token) -> str:
        is_numbered = token.type == "ordered_list_open"
        closing = token.type.replace("open", "close")
        items, is_tight = [], True
        while self._tokens[self._place].type != closing:
            self._place += 1  # skip the item's own token
            first = self._tokens[self._place]
            is_tight = is_tight and (first.type != "paragraph_open" or bool(first.hidden))
            items.append(self._content("list_item_close"))
        self._place += 1
        name = f"enum(start: {int(token.attrGet('start') or 1)}, " if is_numbered else "list("
        return f"{name}tight: {'true' if is_tight else 'false'}, {', '.join(items)})"

    def _quote(self, token: Token) -> str:
        return f"quote(block: true, {self._content('blockquote_close')})"

    def _code(self, token: Token) -> str:
        return f"raw(block: true, {literal(breakable(token.content.rstrip()))})"

    def _rule(self, token: Token) -> str:
        return "rule"

    def _chart(self, token: Token) -> str:
        return write_figure(figure_at(self._figures, token.meta["place"]))

    def _table(self, token: Token) -> str:
        rows: list[list[Token]] = []
        alignments: list[str] = []
        while (found := self._tokens[self._place]).type != "table_close":
            self._place += 1
            if found.type == "tr_open":
                rows.append([])
            elif found.type == "th_open":
                alignments.append(str(found.attrGet("style") or "").rpartition(":")[2])
            elif found.type == "inline":
                rows[-1].append(found)
        self._place += 1
        return _write_table(rows[0], rows[1:], alignments)


def write_figure(figure: Figure) -> str:
    """Return a chart with its title; without a picture, the reason."""
    title = literal(figure.title)
    if not figure.svg:
        return f"missing({title}, {literal(figure.problem)})"
    picture = f'image(bytes({literal(figure.svg)}), format: "svg", alt: {title})'
    return f"figure({picture}, caption: {title})"


def write_verbatim(text: str) -> str:
    """Return a text unformatted, with its lines and paragraphs."""
    paragraphs = (part.strip("\n") for part in _BLANK.split(text))
    return "\n".join(f"par({literal(_lines(part))})" for part in paragraphs if part)


def _lines(paragraph: str) -> str:
    return "\n".join(breakable(line) for line in paragraph.split("\n"))


def _write_table(
    head: Sequence[Token], rows: Sequence[Sequence[Token]], alignments: list[str]
) -> str:
    columns = range(len(head))
    aligned = [
        _ALIGNMENTS.get(alignments[n]) or _alignment([row[n] for row in rows]) for n in columns
    ]
    header = ", ".join(_cell(token, is_head=True) for token in head)
    body = "".join(f", {_cell(token)}" for row in rows for token in row)
    alignment = "".join(f"{one}, " for one in aligned)
    return f"table(columns: {len(head)}, align: ({alignment}), table.header({header}){body})"


def _alignment(cells: Sequence[Token]) -> str:
    """Return a column's alignment: right if it has numbers only."""
    words = ["".join(run.text for run in read_runs(cell.children)).strip() for cell in cells]
    filled = [word for word in words if word not in _EMPTY_CELLS]
    return "right" if filled and all(map(_NUMBER.fullmatch, filled)) else "left"


def _cell(token: Token, *, is_head: bool = False) -> str:
    runs = read_runs(token.children)
    written = write_runs(runs)
    return f"strong({written})" if is_head and written != NOTHING else written


_Write = Callable[[Blocks, Token], str]
_BLOCKS: Mapping[str, _Write] = {
    "inline": Blocks._inline,
    "paragraph_open": Blocks._paragraph,
    "heading_open": Blocks._heading,
    "bullet_list_open": Blocks._list,
    "ordered_list_open": Blocks._list,
    "blockquote_open": Blocks._quote,
    "fence": Blocks._code,
    "code_block": Blocks._code,
    FORMULA: Blocks._code,
    "hr": Blocks._rule,
    "chart": Blocks._chart,
    "table_open": Blocks._table,
}
