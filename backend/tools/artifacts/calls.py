"""What the artifact tools share: the caller, what a call made, and its result for the model."""

from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from backend.artifacts.making import Maker
from backend.artifacts.rows import Added
from backend.artifacts.service import Artifacts
from backend.data.results import Column, Table
from backend.errors.artifacts import ArtifactNotFound, ArtifactRefused
from backend.tabular.chart_places import write_place
from backend.tools.context import CALL_ID, CALL_PLACE, ToolContext
from backend.tools.sources.presenting import Artifact, RowWindow, excerpt
from backend.types import JSON

HOW_TO_LINK = (
    "Where you name a number of it, link to its cell, rows counted from 1: "
    "[1,234.50]({address}#row=3&column=amount)."
)
HOW_TO_PLACE = "In a document it is drawn where a line of its own says {line}"


def artifacts_of(context: ToolContext) -> Artifacts:
    """Return the artifacts of the turn's conversation. Raise ArtifactRefused without any."""
    if context.artifacts is None:
        raise ArtifactRefused("There are no artifacts here.")
    return context.artifacts


def maker_of(context: ToolContext) -> Maker:
    """Return the maker of a version; its key is the same in every attempt of the call."""
    place = CALL_PLACE.get(None)
    key = str(uuid5(NAMESPACE_OID, f"{context.turn_id} {place}")) if place else None
    return Maker(context.conversation_id, context.turn_id, context.agent, key)


def origin_of(tool: str, **details: Any) -> JSON:
    """Return where a version came from; unknown parts are absent."""
    known = {"tool": tool, "call_id": CALL_ID.get() or None, **details}
    return {name: value for name, value in known.items() if value is not None}


def read_id(text: str) -> UUID:
    """Return the artifact id that a model gave, also as `artifact:ID@2`. Raise ArtifactNotFound."""
    try:
        return UUID(text.strip().removeprefix("artifact:").partition("@")[0])
    except ValueError:
        raise ArtifactNotFound(
            f"{text[:80]!r} is no artifact's id. Use one that make_artifact returned."
        ) from None


def made_of(added: Added) -> Artifact:
    """Return what a tool result stores about a version that its call made."""
    return {
        "kind": "artifact",
        "made": {
            "artifact_id": str(added.artifact_id),
            "version": added.version,
            "kind": added.kind.value,
            "title": added.title,
        },
    }


def address_of(added: Added) -> str:
    """Return the address of a version, as used in links."""
    return f"artifact:{added.artifact_id}@{added.version}"


def say_made(added: Added) -> str:
    """Return the model's result for a version: its address, and a table's first rows."""
    is_same = "" if added.is_made else " It is unchanged: the content is equal."
    address = address_of(added)
    text = f"The {added.kind} “{added.title}” is {address}, shown to the person.{is_same}"
    if added.kind == "chart":
        return f"{text} {HOW_TO_PLACE.format(line=write_place(added.title, address))}"
    if added.kind != "table":
        return text
    return (
        f"{text}\n{HOW_TO_LINK.format(address=address)}\n{show_table(added.title, added.preview)}"
    )


def show_table(title: str, page: JSON, offset: int = 0) -> str:
    """Return a table's rows as a model reads them."""
    columns = tuple(map(Column.read, page["columns"]))
    further = "read_artifact with offset={offset} gives the next ones."
    text = excerpt(title, Table(columns, page["rows"]), (), RowWindow(offset, further))
    return f"{page['total_rows']:,} rows in all. {text}"
