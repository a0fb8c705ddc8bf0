"""Versions of servers' tool descriptions: new, changed, accepted or refused. Pure.

Whoever controls a server controls what a model reads of its tools. So a tool is only used as it
was when first seen, or as an administrator has accepted it since.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from mcp.types import Tool

from backend.schemas.domains.servers import VersionStatus
from backend.tools.mcp.names import ToolKey
from backend.types import JSON
from colloquy_kit.messages.clean import clean

MAX_KEPT_CHARS = 200_000
_SAID = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


class Version(NamedTuple):
    """A tool as a server described it."""

    server: str
    tool: str
    fingerprint: str
    description: JSON


class KnownVersion(NamedTuple):
    """A version that was seen before, and its status."""

    server: str
    tool: str
    fingerprint: str
    status: VersionStatus
    seen_at: datetime


@dataclass(frozen=True)
class Review:
    """Which of the tools that servers list may be used.

    `statuses` are those of the listed tools; `remembered` are all tools ever seen, first seen
    first; `changed` are the withheld tools that were used in another version before.
    """

    statuses: Mapping[ToolKey, VersionStatus] = field(default_factory=dict)
    remembered: tuple[ToolKey, ...] = ()
    changed: frozenset[ToolKey] = frozenset()

    def withholds(self, key: ToolKey) -> bool:
        """Return whether a tool must not be used in its current version."""
        return self.statuses.get(key, VersionStatus.ACCEPTED) is not VersionStatus.ACCEPTED


def review_refused(listed: Sequence[Version], refused: Iterable[KnownVersion]) -> Review:
    """Return what may be used where nobody decides: everything but what was refused before."""
    known = {one[:3] for one in refused}
    return Review({one[:2]: VersionStatus.REFUSED for one in listed if one[:3] in known})


def version_of(server: str, tool: Tool) -> Version:
    """Return the tool's version: all that a model reads, and what decides its effect."""
    description = tool.model_dump(mode="json", include=set(_SAID), exclude_none=True)
    written = json.dumps(description, sort_keys=True)
    fingerprint = hashlib.sha256(written.encode()).hexdigest()
    if len(written) > MAX_KEPT_CHARS:
        description = {
            "name": tool.name,
            "description": f"[{len(written)} characters are not kept]",
        }
    return Version(clean(server), clean(tool.name), fingerprint, clean(description))


def review_versions(listed: Sequence[Version], known: Iterable[KnownVersion]) -> Review:
    """Return what may be used; a server seen for the first time is accepted as it is."""
    known = sorted(known, key=lambda one: (one.seen_at, one.server, one.tool))
    statuses = {one[:3]: one.status for one in known}
    accepted = VersionStatus.ACCEPTED
    used = {(one.server, one.tool) for one in known if one.status is accepted}
    servers = {one.server for one in known}
    judged: dict[ToolKey, VersionStatus] = {}
    for version in listed:
        first = accepted if version.server not in servers else VersionStatus.PENDING
        judged[version[:2]] = statuses.get(version[:3], first)
    withheld = {key for key, status in judged.items() if status is not accepted}
    remembered = dict.fromkeys((one.server, one.tool) for one in known)
    return Review(judged, tuple(remembered), frozenset(withheld & used))
