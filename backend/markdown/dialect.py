"""The one meaning of Markdown, in answers and documents, on pages and in downloads. Pure.

CommonMark with GitHub's tables and `~~struck~~` words, and these rules:

- HTML is text; only `<br>` is a line break. Single tildes, directives and emoji codes are text.
- Images are links to them, and only web and mail addresses, and cells of artifacts, are linked: of
  other links the text remains. A line that defines another address is text, not a definition.
- Emphasis works beside scripts without spaces (`emphasis.py`), bare addresses end where the
  sentence goes on (`bare_links.py`), footnotes stay in place (`notes.py`), formulas are told from
  money (`formulas.py`), and charts are placed by a line of their own (`chart_places.py`).
- What is nested too deeply is one paragraph.

`ui/assets/dialect.js` has the same rules for what is drawn in the browser, and
`tests/samples/markdown.yaml` an example of each, which every way has to read alike.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.reference import reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from backend.markdown.bare_links import read_bare_link
from backend.markdown.emphasis import InlineParser
from backend.markdown.formulas import FORMULA, read_block_formula, read_line_formula
from backend.markdown.notes import NOTE, find_notes, read_note
from backend.tabular.chart_places import CHART, ChartPlace, read_charts

LONGEST_MARKDOWN = 200_000  # longer documents are shown as plain text
DEEPEST = 16  # nested lists and quotes; deeper content is shown as plain text
LINE_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)  # models write it into cells
_MOST_NESTED = 100
_MARKS = "](artifact:", "](<artifact:"
_LINE_END = re.compile(r"\r\n?|\n")
_LINKED = ("http", "https", "mailto")
_DEFINED = re.compile(r" {0,3}\[[^\[\]^][^\[\]]*\]:[ \t]*<?(?:https?://|mailto:|artifact:)", re.I)
_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?:@\d{1,9})?"
CELL = re.compile(
    r"!?\[([^\[\]\n]{1,300})\]\(<?"
    rf"(artifact:{_ID}(?:#(?:[^()\s<>]|\([^()\s<>]{{0,80}}\)|[ ](?!\"))*+)?)>?"
    r"(?: +\"[^\"\n]{0,200}\")?\)"
)
_CELL_ADDRESS = re.compile(rf"artifact:{_ID}(?:#.*)?", re.IGNORECASE)
_SPACES = {"softbreak": " ", "hardbreak": "\n"}
_INTERRUPTS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def reader() -> MarkdownIt:
    """Return the parser."""
    parser = MarkdownIt(
        "commonmark", {"html": False, "xhtmlOut": False, "maxNesting": _MOST_NESTED}
    )
    parser.inline = InlineParser()
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "linkify"])
    parser.block.ruler.before("table", "too_deep", _too_deep)
    parser.block.ruler.before("fence", FORMULA, read_block_formula, _INTERRUPTS)
    parser.block.ruler.at("reference", _definition)
    parser.inline.ruler.before("newline", "bare_link", read_bare_link)
    parser.inline.ruler.before("escape", FORMULA, read_line_formula)
    parser.inline.ruler.before("link", NOTE, read_note)
    parser.inline.ruler.before("link", "cell", _cell_link)
    parser.inline.ruler.before("autolink", "line_break", _line_break)
    parser.core.ruler.before("inline", NOTE, find_notes)
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


def words_of(tokens: Sequence[Token] | None) -> str:
    """Return the visible text of a line."""
    return "".join(_SPACES.get(token.type, token.content) for token in tokens or ())


def is_linked(address: str) -> bool:
    """Return whether an address is linked: one of the web, of mail, or of a cell."""
    try:
        scheme = urlsplit(address).scheme.lower()
    except ValueError:
        return False
    return scheme in _LINKED or is_cell(address)


def is_cell(address: str) -> bool:
    """Return whether an address names an artifact, or a cell of one."""
    return _CELL_ADDRESS.fullmatch(address) is not None


def _definition(state: StateBlock, line: int, end_line: int, silent: bool) -> bool:
    """Read the definition of a link, unless nothing would be linked and its words would be lost."""
    if _DEFINED.match(state.src, state.bMarks[line], state.eMarks[line]) is None:
        return False
    return reference(state, line, end_line, silent)


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


def _cell_link(state: StateInline, silent: bool) -> bool:
    """Read a link to a cell; its column may have spaces, and it may be written as an image."""
    if state.src[state.pos] not in "![" or state.linkLevel:
        return False
    found = CELL.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        end = state.posMax
        href = state.md.normalizeLink(found[2])
        state.push("link_open", "a", 1).attrs = {"href": href}
        state.pos, state.posMax = found.span(1)
        state.linkLevel += 1
        state.md.inline.tokenize(state)
        state.linkLevel -= 1
        state.posMax = end
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _plain_links(state: StateCore) -> None:
    for token in state.tokens:
        if token.children:
            token.children = _without_others(token.children)


def _without_others(tokens: list[Token]) -> list[Token]:
    """Return tokens with links of the web and to cells only; of others and images, the text."""
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
