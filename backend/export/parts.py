"""The content of a display message in a document: its author, and its parts. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from backend.export.reader import Reader
from backend.schemas.approvals import ApprovalStatus, DecisionType
from backend.schemas.conversations.outcomes import CallOutcome
from backend.schemas.conversations.sessions import DisplayMessage
from backend.tabular.chart_places import write_place
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

SHOWN_ROWS = 50
FURTHER = "the artifact's download has all"
_DECIDED = {
    DecisionType.APPROVE: "approved",
    DecisionType.EDIT: "edited",
    DecisionType.REJECT: "rejected",
    DecisionType.RESPOND: "answered",
}

Kind = Literal["markdown", "verbatim", "aside", "code", "table", "chart", "image", "problem"]


@dataclass(frozen=True)
class Part:
    """One piece of a document; `label` is shown above it, `language` is that of code.

    `place` is the line of Markdown that a chart replaces; `id` is the message's.
    """

    kind: Kind
    text: str = ""
    label: str = ""
    language: str = ""
    table: Mapping[str, Any] | None = None
    result_id: str = ""
    place: str = ""
    id: str = ""


def speaker_of(row: DisplayMessage) -> str:
    """Return the author of a row, as a heading shows it."""
    if row.message_type is MessageType.USER:
        return str(row.metadata.get("author", {}).get("name", "You"))
    return row.agent or "Assistant"


def part_of(row: DisplayMessage) -> Part:
    """Return the content of a row."""
    return _PARTS.get(row.content_type, _anything)(row)


def artifact_part(
    kind: str, title: str, address: str, preview: Mapping[str, Any], reader: Reader
) -> Part:
    """Return what is shown of an artifact's version: its first rows, its text, its value.

    `address` is the version's, `artifact:ID@2`.
    """
    if kind == "table":
        table = {**preview, "title": title, "row_count": preview["total_rows"], "further": FURTHER}
        return Part("table", label=title, table=table)
    text, total = str(preview.get("text", "")), int(preview.get("total_characters", 0))
    shown = f"{reader.count(len(text))} of {reader.count(total)} characters"
    cut = f"\n\n({shown}; {FURTHER})" if len(text) < total else ""
    if kind == "document":
        return Part("markdown", f"{text}{cut}")
    if kind == "chart":
        return Part("chart", _json(preview), title, "json", place=write_place(title, address))
    if kind == "json":
        return Part("code", f"{text}{cut}" if text else _json(preview.get("value")), title, "json")
    return Part("aside", f"{kind.capitalize()}: {title}")


def count_words(table: Mapping[str, Any], shown: int, reader: Reader) -> str:
    """Return how many of a table's rows are shown, and whether its tool cut it off."""
    total = int(table.get("row_count") or shown)
    rows = "1 row" if total == 1 else f"{reader.count(total)} rows"
    further = table.get("further", "the Excel export has all")
    counted = f"{reader.count(shown)} of {rows}; {further}" if shown < total else rows
    return counted if table.get("complete", True) else f"{counted}; cut at the tool's limit"


def _text(row: DisplayMessage) -> Part:
    is_user = row.message_type is MessageType.USER
    return Part("verbatim" if is_user else "markdown", str(row.content.get("text", "")))


def _thinking(row: DisplayMessage) -> Part:
    return Part("aside", str(row.content.get("text", "")), "Thinking")


def _error(row: DisplayMessage) -> Part:
    return Part("problem", f"{row.content.get('title')}\n{row.content.get('detail')}")


def _notice(row: DisplayMessage) -> Part:
    return Part("aside", str(row.content.get("text", "")))


def _todos(row: DisplayMessage) -> Part:
    todos = row.content.get("todos", [])
    marks = ["x" if todo.get("status") == "completed" else " " for todo in todos]
    lines = [f"[{m}] {todo.get('content')}" for m, todo in zip(marks, todos, strict=True)]
    return Part("verbatim", "\n".join(lines), "To do")


def _interrupt(row: DisplayMessage) -> Part:
    """Return how the approval ended, and the arguments that ran if they are not the call's."""
    told, name = row.metadata, str(row.content.get("name") or "tool")
    if row.status is MessageStatus.PENDING:
        return Part("aside", f"{name} waits for a decision.")
    if decision := told.get("decision"):
        label = f"{name}: {_DECIDED[decision]} by {told.get('decided_by')}"
        edited = told.get("edited_arguments")
        if edited is None:
            return Part("aside", f"{label}.")
        return Part("code", _json(edited), label, "json")
    if told.get("outcome") == ApprovalStatus.EXPIRED:
        return Part("aside", f"{name}: expired without a decision.")
    return Part("aside", f"{name}: withdrawn, since the turn was stopped.")


def _image(row: DisplayMessage) -> Part:
    name = str(row.content.get("name") or row.content.get("mime_type") or "image")
    return Part("image", name, result_id=str(row.metadata.get("result_id") or ""))


def _file(row: DisplayMessage) -> Part:
    names = (row.content.get(key) for key in ("title", "name", "mime_type"))
    return Part("aside", f"File: {next(filter(None, names), 'without a name')}")


def _anything(row: DisplayMessage) -> Part:
    return Part("code", _json(row.content), str(row.content_type), "json")


def _call(row: DisplayMessage) -> Part:
    arguments, name = row.content.get("arguments"), str(row.content.get("name") or "tool")
    if isinstance(arguments, Mapping) and isinstance(arguments.get("sql"), str):
        source = arguments.get("source")
        return Part("code", arguments["sql"], f"{name} of {source}" if source else name, "sql")
    text = arguments if isinstance(arguments, str) else _json(arguments)
    return Part("code", text, name, "json")


def _result(row: DisplayMessage) -> Part:
    table, content = row.metadata.get("table"), row.content
    label = str(content.get("name") or "tool")
    if isinstance(table, dict) and table.get("columns"):
        title = str(table.get("title") or label)
        return Part("table", label=title, table=table, id=str(row.id))
    if outcome := CallOutcome.of(row.metadata):
        return Part("aside", outcome.sentence, label)
    ended = "failed" if content.get("is_error") else "result"
    return Part("code", str(content.get("content") or "(empty)"), f"{label}: {ended}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


_PARTS: Mapping[ContentType, Callable[[DisplayMessage], Part]] = {
    ContentType.TEXT: _text,
    ContentType.THINKING: _thinking,
    ContentType.TOOL_CALL: _call,
    ContentType.TOOL_RESULT: _result,
    ContentType.ERROR: _error,
    ContentType.NOTICE: _notice,
    ContentType.TODOS: _todos,
    ContentType.INTERRUPT: _interrupt,
    ContentType.IMAGE: _image,
    ContentType.FILE: _file,
    ContentType.ARTIFACT: _file,
}
