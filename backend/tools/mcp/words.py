"""Sentences about tool servers for people and models, each saying what to do."""

from collections.abc import Mapping, Sequence
from functools import partial

from backend.schemas.domains.servers import VersionStatus
from backend.text import first_of
from backend.tools.mcp.versions import Review

MAX_TOLD = 5
MAX_NAME_CHARS = 80
some = partial(first_of, most=MAX_TOLD)


def server_missing_text(server: str, reason: str) -> str:
    """Return that a server is unavailable in this turn, and why."""
    return (
        f"The tool server {server} is missing: {reason}."
        " Its tools are not available in this turn; the next one tries it again."
    )


def tool_absent_text(tool: str, server: str) -> str:
    """Return, for a model, that a tool of a missing server cannot be called."""
    return (
        f"The tool {tool} is not available in this turn: its server {server} cannot be reached. "
        "Nothing was run. Do without it, or say that it is missing."
    )


def tool_gone_text(tool: str, server: str) -> str:
    """Return, for a model, that a server does not list a tool any more."""
    return (
        f"The tool {tool} is not available: its server {server} no longer offers it. "
        "Nothing was run. Do without it, or say that it is missing."
    )


def tool_withheld_text(tool: str, server: str, status: VersionStatus) -> str:
    """Return, for a model, that a tool may not be called in its current version."""
    why = "has refused it" if status is VersionStatus.REFUSED else "has not accepted it yet"
    return (
        f"The tool {tool} of the server {server} is not available: an administrator {why}. "
        "Nothing was run. Do without it, or say that it is missing."
    )


def about_withheld(server: str, tools: Sequence[str], review: Review) -> list[str]:
    """Return which of a server's tools are not used, and who can change that."""
    pending = [t for t in tools if review.statuses.get((server, t)) is VersionStatus.PENDING]
    changed = [t for t in pending if (server, t) in review.changed]
    new = [t for t in pending if t not in changed]
    refused = [t for t in tools if review.statuses.get((server, t)) is VersionStatus.REFUSED]
    sentences = []
    if changed:
        sentences.append(f"The tool server {server} now describes {some(changed)} in other words")
    if new:
        sentences.append(f"The tool server {server} offers new tools: {some(new)}")
    ask = "Not used until an administrator accepts that on the Tool servers page."
    notices = [f"{sentence}. {ask}" for sentence in sentences]
    if refused:
        notices.append(f"An administrator has refused {some(refused)} of the tool server {server}.")
    return notices


def about_unusable(server: str, reasons: Mapping[str, str]) -> str:
    """Return which of a server's tools cannot be offered to models, and why."""
    listed = some([f"{tool[:MAX_NAME_CHARS]} ({reason})" for tool, reason in reasons.items()])
    return f"Tools of the tool server {server} cannot be used: {listed}. Its operator can fix that."


def about_repeated(server: str, tools: Sequence[str]) -> str:
    """Return that a server lists a name more than once."""
    return f"The tool server {server} lists {some(tools)} more than once: only the first is used."


def about_names(server: str, called: Mapping[str, str]) -> str | None:
    """Return which of a server's tools have another name here; None if none has."""
    renamed = [f"{tool} is called {name}" for tool, name in called.items() if name != tool]
    if not renamed:
        return None
    return f"Of the tool server {server}, {some(renamed)} here: the names are taken or not allowed."
