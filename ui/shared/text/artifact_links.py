"""Links of an answer to a cell: `[1,234.50](artifact:ID@2#row=3&column=amount)`. Pure.

Browsers do not know such addresses. Pages link to themselves instead, with the cell in the query.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlencode
from uuid import UUID

from ui.shared.text.spans import rewrite_prose

MAX_DIGITS = 9
ARTIFACT, ROW, COLUMN = "artifact", "row", "column"  # of the query
STALE = "†"

_LINK = re.compile(
    r"(?<!\\)(!?)\[([^\[\]\n]{1,300})\]\(<?artifact:"
    r"([0-9a-fA-F-]{36}(?:@\d{1,9})?(?:#(?:[^()\s<>]|\([^()\s<>]{0,80}\)|[ ](?!\"))*+)?)>?\)"
)
_VERSIONED = re.compile(r"([0-9a-fA-F-]{36})(?:@(\d{1,9}))?")


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

    def href(self, session_id: UUID) -> str:
        """Return the link to it, without characters that are special in Markdown."""
        return "?" + urlencode(self.query(session_id), quote_via=quote, safe="@-")


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


def find_targets(text: str) -> list[Target]:
    """Return the targets that a text links to."""
    found: list[Target] = []

    def take(label: str, target: Target) -> str:
        found.append(target)
        return label

    replace_links(text, take)
    return found


def replace_links(text: str, write: Callable[[str, Target], str]) -> str:
    """Return a text with each link to a cell rewritten; code and formulas stay unchanged."""
    if "](artifact:" not in text and "](<artifact:" not in text:
        return text

    def one(link: re.Match[str]) -> str:
        target = _read_address(link[3])
        # One written as an image becomes a link like the others: nothing is loaded for it.
        return link[0] if target is None else write(link[2], target)

    return rewrite_prose(text, lambda prose: _LINK.sub(one, prose))


def _read_address(address: str) -> Target | None:
    name, _, cell = address.partition("#")
    parts = {key: values[0] for key, values in parse_qs(cell.replace("+", "%2B")).items()}
    return read_target(
        {ARTIFACT: name} | {key: parts[key] for key in (ROW, COLUMN) if key in parts}
    )
