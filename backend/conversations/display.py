"""What Colloquy's display messages have beyond the kit's: sources, tables, files and artifacts.

Pure rules; the kit splits a message into rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend.llm.wire.kept import FOR, KEPT, NOT_KEPT, THINKING
from backend.llm.wire.sources import EXECUTED, MORE_SOURCES, SOURCES
from backend.schemas.conversations.outcomes import CallOutcome
from backend.types import JSON
from colloquy_kit.messages import display as kit
from colloquy_kit.messages.display import Draft, notice
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

PREVIEW_ROWS = 50
STATE_WRITTEN = "state_version"  # metadata of the notice that somebody wrote the agent state
RESPONSE = "response"  # metadata of a team's message: its agent's response besides the text
TOO_MUCH_TO_KEEP = (
    "The model's provider sent more with its answer than is stored ({} characters). "
    "If it refuses the next request, ask again in a new session, or choose another model."
)


@dataclass(frozen=True)
class ResultDraft(Draft):
    """The row of a tool's result; `result` holds what is too large for it."""

    result: JSON | None = None


@dataclass(frozen=True)
class CallMove:
    """How the status of the open tool call at a position changes."""

    position: int
    status: MessageStatus
    metadata: JSON = field(default_factory=dict)


def assistant_drafts(message: JSON, agent: str, status: MessageStatus) -> list[Draft]:
    """Return the rows of one model message: thinking, text, then its calls as running.

    `status` is the status of thinking and text: completed, or stopped for a partial answer.
    """
    response = (message.get("additional_kwargs") or {}).get(RESPONSE)
    if (response or {}).get("observed"):
        return []
    rows = kit.assistant_drafts(message, status, agent)
    metadata = message.get("response_metadata", {})
    if NOT_KEPT in metadata:
        text = TOO_MUCH_TO_KEEP.format(metadata[NOT_KEPT])
        rows.append(replace(notice(text), sequence=len(rows), agent=agent))
    if rows[0].content_type is ContentType.THINKING:
        rows[0] = _with(rows[0], _sent_as(message))
    kit.add_details(rows, _sources(metadata))
    return [_with(row, {RESPONSE: response}) for row in rows] if response else rows


def tool_drafts(message: JSON, artifact: Mapping[str, Any] | None, agent: str) -> list[Draft]:
    """Return the rows of one tool result, with a notice if the call's effect is unknown."""
    rows = result_drafts(message, artifact, agent)
    if not is_unknown(message):
        return rows
    name = message.get("name")
    return [
        *rows,
        notice(
            f"It is unknown whether {name} took effect, so it was not repeated."
            " Check, then tell the agent to repeat it or to continue."
        ),
    ]


def result_drafts(message: JSON, artifact: Mapping[str, Any] | None, agent: str) -> list[Draft]:
    """Return the rows of one tool result: its text, and each image, file or artifact of it."""
    row = tool_draft(message, artifact, agent)
    if version := (artifact or {}).get("made"):
        return [row, artifact_made(version, agent)]
    if not artifact or artifact.get("kind") != "content":
        return [row]
    besides = {key: artifact[key] for key in ("structured", "links") if artifact.get(key)}
    if besides:
        row = replace(row, metadata=besides)
    files = artifact["attachments"]
    return [row, *(_file(file, message, agent) for file in files)]


def artifact_made(artifact: JSON, agent: str) -> Draft:
    """Return the row of a new artifact version: `{artifact_id, version, kind, title}`."""
    return Draft(MessageType.TOOL, ContentType.ARTIFACT, dict(artifact), agent=agent)


def is_unknown(message: JSON) -> bool:
    """Return whether this is the result of a call whose effect is unknown."""
    return outcome_of(message) is CallOutcome.UNKNOWN


def outcome_of(message: JSON) -> CallOutcome | None:
    """Return why a call has no result of its tool; None if it has one."""
    return CallOutcome.of(message.get("additional_kwargs") or {})


def tool_draft(message: JSON, artifact: Mapping[str, Any] | None, agent: str) -> ResultDraft:
    """Return the row of one tool result; it has a table's first rows, `result` all of them."""
    table, whole = _table(artifact)
    outcome = outcome_of(message)
    metadata = ({"table": table} if table else {}) | ({"outcome": outcome.value} if outcome else {})
    row = kit.tool_draft(message, agent)
    return ResultDraft(**vars(replace(row, metadata=metadata)), result=whole)


def _with(row: Draft, metadata: JSON) -> Draft:
    return replace(row, metadata=row.metadata | metadata)


def _sources(response: JSON) -> JSON:
    return {
        name: response[name] for name in (SOURCES, MORE_SOURCES, EXECUTED) if response.get(name)
    }


def _sent_as(message: JSON) -> JSON:
    """Return the fields in which the provider gets the thinking back, for rebuilding a state."""
    kept = message.get("additional_kwargs", {}).get(KEPT) or {}
    names = kept.get(THINKING)
    return {KEPT: {FOR: kept.get(FOR), THINKING: names}} if names else {}


def _file(file: JSON, message: JSON, agent: str) -> Draft:
    """Return an image or another file of a tool result; its bytes are stored separately."""
    is_image = file["kind"] == "image"
    described = {key: file[key] for key in ("name", "mime_type", "bytes")}
    return ResultDraft(
        MessageType.TOOL,
        ContentType.IMAGE if is_image else ContentType.FILE,
        {**described, "tool": message.get("name"), "tool_call_id": message.get("tool_call_id")},
        agent=agent,
        result=file,
    )


def _table(artifact: Mapping[str, Any] | None) -> tuple[JSON | None, JSON | None]:
    """Return the table to show, and the whole one if it has more rows."""
    if not artifact or artifact.get("kind") != "table":
        return None, None
    table = {key: value for key, value in artifact.items() if key not in ("kind", "rows", "made")}
    table["rows"] = artifact["rows"][:PREVIEW_ROWS]
    return table, dict(artifact) if len(artifact["rows"]) > PREVIEW_ROWS else None
