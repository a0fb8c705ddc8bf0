"""Links of an answer to a cell: `[1,234.50](artifact:ID@2#row=3&column=amount)`. Pure.

Browsers do not know such addresses. Pages and downloads link to the chat page instead, with the
cell in its query.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape, unescape
from urllib.parse import parse_qs, quote, urlencode
from uuid import UUID

from markdown_it.token import Token

from backend.markdown.dialect import CELL, reader

MAX_DIGITS = 9
ARTIFACT, ROW, COLUMN = "artifact", "row", "column"  # of the query
STALE = "†"

_SCHEME = "artifact:"
_VERSIONED = re.compile(r"([0-9a-fA-F-]{36})(?:@(\d{1,9}))?")
_UNESCAPED = re.compile(rf"(?<!\\){CELL.pattern}")
_WRITTEN = re.compile(rf'<a href="({_SCHEME}[^"]*)"[^>]*>(.*?)</a>', re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Target:
    """A version of an artifact, and a cell in it; a version of None means the newest."""

    artifact_id: UUID
    version: int | None = None
    row: int | None = None
    column: str | None = None

    def query(self, session_id: UUID) -> dict[str, str]:
        """Return the query of the chat page that shows this target beside the session."""
        version = "" if self.version is None else f"@{self.version}"
        cell = {ROW: self.row, COLUMN: self.column}
        place = {name: str(value) for name, value in cell.items() if value is not None}
        return {"session": str(session_id), ARTIFACT: f"{self.artifact_id}{version}", **place}

    def href(self, session_id: UUID, pages: str = "") -> str:
        """Return the link to it, without characters that are special in Markdown.

        `pages`: their address, for a link from elsewhere.
        """
        query = urlencode(self.query(session_id), quote_via=quote, safe="@-")
        return f"{pages}/?{query}" if pages else f"?{query}"


@dataclass(frozen=True)
class FromElsewhere:
    """Where links of a download lead: to the pages at this address, beside the session."""

    session_id: UUID
    pages: str

    def __call__(self, target: Target) -> str:
        """Return the link to a target."""
        return target.href(self.session_id, self.pages)


Href = Callable[[Target], str]
Write = Callable[[str, Target], str]


def read_target(query: Mapping[str, str]) -> Target | None:
    """Return the target that a query names; None if it names none, or an invalid one."""
    found = _VERSIONED.fullmatch(query.get(ARTIFACT, ""))
    if found is None:
        return None
    try:
        artifact_id = UUID(found[1])
    except ValueError:
        return None
    row = query.get(ROW, "")
    is_row = row.isascii() and row.isdigit() and len(row) <= MAX_DIGITS
    return Target(
        artifact_id,
        int(found[2]) if found[2] else None,
        int(row) if is_row else None,
        query.get(COLUMN) or None,
    )


def read_address(address: str) -> Target | None:
    """Return the target of a link, `artifact:ID@2#row=3&column=amount`; None for other links."""
    scheme, name_and_cell = address[: len(_SCHEME)], address[len(_SCHEME) :]
    if scheme.lower() != _SCHEME:
        return None
    name, _, cell = name_and_cell.partition("#")
    parts = {key: values[0] for key, values in parse_qs(cell.replace("+", "%2B")).items()}
    return read_target(
        {ARTIFACT: name} | {key: parts[key] for key in (ROW, COLUMN) if key in parts}
    )


def find_targets(text: str) -> list[Target]:
    """Return the targets that a text links to."""
    if f"]({_SCHEME}" not in text and f"](<{_SCHEME}" not in text:
        return []
    lines = (token.children or () for token in reader().parse(text))
    found = (read_address(_href(token)) for line in lines for token in line)
    return [target for target in found if target]


def link_cells(tokens: Iterable[Token], href: Href) -> None:
    """Let a parsed text's links to cells lead to these addresses."""
    for token in tokens:
        if target := read_address(_href(token)):
            token.attrSet("href", href(target))
        link_cells(token.children or (), href)


def rewrite_links(html: str, write: Write) -> str:
    """Return our own HTML with each link to a cell rewritten, from its label."""

    def one(link: re.Match[str]) -> str:
        target = read_address(unescape(link[1]))
        return link[2] if target is None else write(link[2], target)

    return _WRITTEN.sub(one, html) if _SCHEME in html else html


def write_anchor(label: str, href: str, title: str = "") -> str:
    """Return a link of HTML, from its label in HTML."""
    about = f' title="{escape(title)}"' if title else ""
    return f'<a href="{escape(href)}"{about} target="_blank" rel="noopener noreferrer">{label}</a>'


def rewrite_markdown(text: str, href: Href) -> str:
    """Return Markdown for other readers: links to cells lead to the pages, also those in code."""

    def one(link: re.Match[str]) -> str:
        target = read_address(link[2])
        return link[0] if target is None else f"[{link[1]}]({href(target)})"

    return _UNESCAPED.sub(one, text) if _SCHEME in text else text


def _href(token: Token) -> str:
    return str(token.attrGet("href") or "") if token.type == "link_open" else ""
