"""The Markdown parser of documents, for pages and downloads; it loads nothing. Pure."""

import re
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from backend.tabular.chart_places import CHART, ChartPlace, read_charts
from backend.tabular.markdown_tables import LINE_BREAK

LONGEST_MARKDOWN = 200_000  # longer documents are shown as plain text
DEEPEST = 16  # nested lists and quotes; deeper content is shown as plain text
_MOST_NESTED = 100
_MARKS = "](artifact:", "](<artifact:"
_LINE_END = re.compile(r"\r\n?|\n")
_LINKED = ("http", "https")


def reader() -> MarkdownIt:
    """Return the parser: no HTML, images as links to them, charts as tokens of their own."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTED})
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])
    parser.block.ruler.before("table", "too_deep", _too_deep)
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    parser.core.ruler.push("plain_links", _plain_links)
    return parser.use(read_charts)


def split_charts(text: str) -> list[str | ChartPlace]:
    """Return a document's texts and charts, in order."""
    if not any(mark in text for mark in _MARKS):
        return [text]
    lines = _LINE_END.split(text)
    parts: list[str | ChartPlace] = []
    end = 0
    for token in reader().disable("inline").parse(text):
        if token.type == CHART and token.map:
            parts += ["\n".join(lines[end : token.map[0]]), token.meta["place"]]
            end = token.map[1]
    parts.append("\n".join(lines[end:]))
    return [part for part in parts if not isinstance(part, str) or part.strip()]


def is_linked(address: str) -> bool:
    """Return whether an address is a web address, which a document may link to."""
    try:
        return urlsplit(address).scheme.lower() in _LINKED
    except ValueError:
        return False


def _too_deep(state: StateBlock, line: int, end_line: int, silent: bool) -> bool:
    """Read content that is nested too deeply as one paragraph, with every character kept."""
    if state.level < DEEPEST:
        return False
    state.line = end_line
    opening = state.push("paragraph_open", "p", 1)
    opening.map = [line, end_line]
    token = state.push("inline", "", 0)
    token.content = state.getLines(line, end_line, state.blkIndent, False).strip()
    token.map, token.children = [line, end_line], []
    state.push("paragraph_close", "p", -1)
    return True


def _line_break(state: StateInline, silent: bool) -> bool:
    """Read `<br>` as a line break."""
    found = LINE_BREAK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _plain_links(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            token.children = _without_others(token.children)


def _without_others(tokens: list[Token]) -> list[Token]:
    """Return tokens with links to the web only; of other links and images, the text."""
    kept: list[Token] = []
    link: str | None = None  # the target of the current link; "": one that is not linked
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrGet("href"))
            link = address if is_linked(address) else ""
        if token.type == "image":
            kept += _as_link(token) if link is None else [_words(token)]
        elif link or token.type not in ("link_open", "link_close"):
            kept.append(token)
        if token.type == "link_close":
            link = None
    return kept


def _words(image: Token) -> Token:
    return Token("text", "", 0, content=image.content or str(image.attrGet("src") or ""))


def _as_link(image: Token) -> list[Token]:
    address = str(image.attrGet("src") or "")
    if not is_linked(address):
        return [_words(image)]
    opening = Token("link_open", "a", 1, attrs={"href": address})
    return [opening, _words(image), Token("link_close", "a", -1)]
