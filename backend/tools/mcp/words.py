"""Sentences about tool servers for people and models, each saying what to do."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from backend.llm.form.repairs import MAX_TOOLS as MAX_OF_MODEL
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


def about_unusable(server: str, reasons: Iterable[tuple[str, str]], most: int = MAX_TOLD) -> str:
    """Return which of a server's tools cannot be offered to models, and why."""
    listed = first_of([f"{tool[:MAX_NAME_CHARS]} ({reason})" for tool, reason in reasons], most)
    return f"Tools of the tool server {server} cannot be used: {listed}. Its operator can fix that."


def about_repeated(server: str, tools: Sequence[str], most: int = MAX_TOLD) -> str:
    """Return that a server lists a name more than once."""
    listed = first_of(tools, most)
    return f"The tool server {server} lists {listed} more than once: only the first is used."


def about_too_many(server: str, used: int, beyond: Sequence[str], most: int = MAX_TOLD) -> str:
    """Return that a server lists more tools than are used, and the next ones."""
    listed = first_of([tool[:MAX_NAME_CHARS] for tool in beyond], most)
    return (
        f"The tool server {server} lists more than {used:,} tools: the others are left out, from"
        f" {listed} on. Its operator can let it offer fewer."
    )


def about_many(server: str, called: Sequence[str]) -> str | None:
    """Return, for administrators, which tools some models cannot be offered; None if all can."""
    beyond = called[MAX_OF_MODEL:]
    if not beyond:
        return None
    return (
        f"The tool server {server} offers {len(called)} tools. Many models take at most"
        f" {MAX_OF_MODEL}: for those, {', '.join(beyond)} and as many more as an agent has other"
        " tools are left out. To choose, name tools for each agent of the domain."
    )


def about_parameters(server: str, tool: str, names: Mapping[str, str]) -> str | None:
    """Return which of a tool's parameters models know by the other names given; None if none."""
    if not names:
        return None
    renamed = [f"{name} as {told}" for name, told in names.items()]
    return (
        f"Of {tool[:MAX_NAME_CHARS]} of the tool server {server}, models know {', '.join(renamed)}."
    )


def about_names(server: str, called: Mapping[str, str], most: int = MAX_TOLD) -> str | None:
    """Return which of a server's tools have another name here; None if none has."""
    renamed = [
        f"{tool[:MAX_NAME_CHARS]} is called {name}" for tool, name in called.items() if name != tool
    ]
    if not renamed:
        return None
    listed = first_of(renamed, most)
    return f"Of the tool server {server}, {listed} here: the names are taken or not allowed."
