"""Says what is known of tool servers and of versions of their tools. Pure."""

from typing import Any

from backend.schemas.domains.servers import ServerReport, ToolVersion
from ui.shared.formats.times import duration
from ui.shared.text.json_text import lay_out
from ui.shared.text.line_diff import diff_lines

EFFECTS = {
    "read_only": "reads only",
    "idempotent": "may be repeated",
    "acts": "acts",
}
TRANSPORTS = {"stdio": "child process of a worker", "streamable_http": "over HTTP"}


def server_words(server: ServerReport) -> str:
    """Return how it is reached, how long that took, and how much it offers."""
    parts = [TRANSPORTS[server.transport]]
    if server.answers:
        count = len(server.tools)
        parts += [f"answered in {duration(server.seconds)}", f"{count} tool{'s'[: count != 1]}"]
    else:
        parts.append(f"given up after {duration(server.seconds)}")
    return " · ".join(parts)


def pause_words(server: ServerReport) -> str:
    """Return that turns leave it alone since it has failed; nothing if they do not."""
    if not server.paused_seconds:
        return ""
    if server.answers:
        return "It failed earlier: turns skipped it until now, and use it again."
    return f"Turns skip it for another {duration(server.paused_seconds)} because it failed."


def version_words(version: ToolVersion) -> str:
    """Return what kind of change waits."""
    if version.before is not None:
        return "described differently than before"
    return "new"


def changes(version: ToolVersion) -> str:
    """Return the version beside the one before it, as a diff, whole; all of it where it is new."""
    after = _lines(version.description)
    if version.before is None:
        return "\n".join(after)
    before = _lines(version.before)
    return "\n".join(diff_lines(before, after, len(after)))


def _lines(description: dict[str, Any]) -> list[str]:
    """Return the description as text, then the rest as JSON: line by line, as one reads it."""
    rest = {key: value for key, value in description.items() if key != "description"}
    text = str(description.get("description", ""))
    written = lay_out(rest, sort_keys=True)
    return [*text.splitlines(), "", *written.splitlines()]
