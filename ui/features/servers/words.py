"""The wording for tool servers and versions of their tools. Pure."""

from typing import Any

from backend.schemas.domains.servers import ServerReport, ToolVersion
from ui.shared.formats import reader
from ui.shared.text.json_text import lay_out
from ui.shared.text.line_diff import diff_lines

EFFECTS = {
    "read_only": "read-only",
    "idempotent": "may be repeated",
    "acts": "acts",
}
TRANSPORTS = {"stdio": "child process of a worker", "streamable_http": "over HTTP"}


def server_words(server: ServerReport) -> str:
    """Return how it is reached, how long that took, and how many tools it offers."""
    parts = [TRANSPORTS[server.transport]]
    if server.answers:
        count = len(server.tools)
        parts += [
            f"answered in {reader.duration(server.seconds)}",
            f"{count} tool{'s'[: count != 1]}",
        ]
    else:
        parts.append(f"given up after {reader.duration(server.seconds)}")
    return " · ".join(parts)


def pause_words(server: ServerReport) -> str:
    """Return that turns skip the server after a failure; empty if they do not."""
    if not server.paused_seconds:
        return ""
    if server.answers:
        return "It failed earlier and was skipped by turns until now. It is used again."
    return f"Turns skip it for another {reader.duration(server.paused_seconds)} because it failed."


def version_words(version: ToolVersion) -> str:
    """Return the kind of change that waits for a decision."""
    if version.before is not None:
        return "description changed"
    return "new"


def changes(version: ToolVersion) -> str:
    """Return a full diff from the previous version; the whole description if it is new."""
    after = _lines(version.description)
    if version.before is None:
        return "\n".join(after)
    before = _lines(version.before)
    return "\n".join(diff_lines(before, after, len(after)))


def _lines(description: dict[str, Any]) -> list[str]:
    """Return the description as lines of text, then the rest as lines of JSON."""
    rest = {key: value for key, value in description.items() if key != "description"}
    text = str(description.get("description", ""))
    written = lay_out(rest, sort_keys=True)
    return [*text.splitlines(), "", *written.splitlines()]
