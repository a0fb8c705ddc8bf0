"""Places of charts in a document: lines of their own, `![title](artifact:ID@2)`. Pure.

Pages, downloads and the PDF find them by the same rule of the Markdown parser.
"""

import re
from dataclasses import dataclass, replace
from uuid import UUID

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

MOST_CHARTS = 20  # per document
CHART = "chart"
NOT_FOUND = "This chart cannot be found in this session."
NOT_DRAWN = "This chart cannot be drawn."
NOT_NOW = "This chart could not be drawn because the server is busy. Try again later."
TOO_MANY = f"A document shows at most {MOST_CHARTS} charts; this one is left out."

_BRACKETS = {ord("["): "(", ord("]"): ")"}  # a bracket would end the title
_LINE = re.compile(
    r"!\[([^\[\]\n]{0,300})\]\(<?artifact:([0-9a-fA-F-]{36})(?:@(\d{1,9}))?>?"
    r'(?: +"[^"\n]{0,200}")?\)[ \t]*'
)


@dataclass(frozen=True)
class ChartPlace:
    """A chart that a document names, and its number there; a version of None is the newest."""

    title: str
    artifact_id: UUID
    version: int | None = None
    number: int = 1

    @property
    def is_shown(self) -> bool:
        """Whether it is within the number of charts that a document shows."""
        return self.number <= MOST_CHARTS

    @property
    def problem(self) -> str:
        """Why there is no chart, if there is none."""
        return NOT_FOUND if self.is_shown else TOO_MANY


def write_place(title: str, address: str) -> str:
    """Return the line that puts a chart into a document; `address`: `artifact:ID@2`."""
    return f"![{title.translate(_BRACKETS)}]({address})"


def read_place(line: str) -> ChartPlace | None:
    """Return the chart that a line names, if any."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    try:
        named = UUID(found[2])
    except ValueError:
        return None
    return ChartPlace(found[1].strip() or "Chart", named, int(found[3]) if found[3] else None)


def read_charts(reader: MarkdownIt) -> None:
    """Make a parser emit a `chart` token for each such line, except in code."""
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    reader.block.ruler.before("paragraph", CHART, _rule, ends)


def _rule(state: StateBlock, line: int, end_line: int, silent: bool) -> bool:
    if state.is_code_block(line):
        return False
    place = read_place(state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]])
    if place is None:
        return False
    if not silent:
        state.line = line + 1
        token = state.push(CHART, "", 0)
        number = state.env[CHART] = state.env.get(CHART, 0) + 1
        token.map, token.meta = [line, line + 1], {"place": replace(place, number=number)}
    return True
