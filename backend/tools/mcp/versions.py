"""What a server says of its tools, as versions: which are new, changed, accepted, refused. Pure.

Whoever controls a server controls what a model reads of its tools. So a tool is used as it was
when it was first seen, or as an administrator has accepted it since.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from mcp.types import Tool

from backend.llm.clean import clean
from backend.schemas.domains.servers import VersionStatus
from backend.tools.mcp.names import ToolKey
from backend.types import JSON

MAX_KEPT_CHARS = 200_000
_SAID = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


class Version(NamedTuple):
    """A tool as a server has described it."""

    server: str
    tool: str
    fingerprint: str
    description: JSON


class Known(NamedTuple):
    """A version that was seen before, and what became of it."""

    server: str
    tool: str
    fingerprint: str
    status: VersionStatus
    seen_at: datetime


@dataclass(frozen=True)
class Review:
    """What may be used of what servers list.

    `statuses` are those of the listed tools; `remembered` all tools ever seen, the first seen
    first; `changed` those of the withheld that were used in another version before.
    """

    statuses: Mapping[ToolKey, VersionStatus] = field(default_factory=dict)
    remembered: tuple[ToolKey, ...] = ()
    changed: frozenset[ToolKey] = frozenset()

    def withholds(self, key: ToolKey) -> bool:
        """Whether a tool must not be used as it is now."""
        return self.statuses.get(key, VersionStatus.ACCEPTED) is not VersionStatus.ACCEPTED


def version_of(server: str, tool: Tool) -> Version:
    """Return the tool's version: all that a model reads of it, and what decides its effect."""
    said = tool.model_dump(mode="json", include=set(_SAID), exclude_none=True)
    written = json.dumps(said, sort_keys=True)
    fingerprint = hashlib.sha256(written.encode()).hexdigest()
    if len(written) > MAX_KEPT_CHARS:
        said = {"name": tool.name, "description": f"[{len(written)} characters are not kept]"}
    return Version(clean(server), clean(tool.name), fingerprint, clean(said))


def review_versions(listed: Sequence[Version], known: Iterable[Known]) -> Review:
    """Return what may be used; a server of which nothing is known is accepted as it is."""
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
