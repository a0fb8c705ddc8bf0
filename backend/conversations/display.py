"""Converting messages of the agent state into display messages: pure rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from backend.conversations import todos as todo_ids
from backend.llm.arguments import MODEL_NAME, parse_arguments
from backend.llm.wire.deltas import UNSHOWN
from backend.llm.wire.kept import FOR, KEPT, NOT_KEPT, THINKING
from backend.llm.wire.sources import EXECUTED, MORE_SOURCES, SOURCES
from backend.schemas.conversations.outcomes import CallOutcome
from backend.schemas.conversations.sessions import ContentType, MessageStatus, MessageType
from backend.text import listed
from backend.types import JSON

PREVIEW_ROWS = 50
CUT_SHORT = {
    "length": "The answer ends here because it reached the model's limit of length.",
    "content_filter": "The provider's content filter ended the answer here.",
}
USAGE = "usage"  # metadata of one row of a model message: the tokens of its call
RESPONSE = "response"  # metadata of a team's message: its agent's response besides the text
NOT_SHOWN = "The model's answer has parts that cannot be shown here: {}."
TOO_MUCH_TO_KEEP = (
    "The model's provider sent more with its answer than is stored ({} characters). "
    "If it refuses the next request, ask again in a new session, or choose another model."
)


@dataclass(frozen=True)
class Draft:
    """A display message before it has a position. `result` holds what is too large for the row."""

    message_type: MessageType
    content_type: ContentType
    content: JSON
    sequence: int = 0
    status: MessageStatus = MessageStatus.COMPLETED
    agent: str | None = None
    metadata: JSON = field(default_factory=dict)
    result: JSON | None = None
    id: UUID | None = None  # otherwise assigned when stored


@dataclass(frozen=True)
class CallMove:
    """How the status of the open tool call at a position changes."""

    position: int
    status: MessageStatus
    metadata: JSON = field(default_factory=dict)


def shown_id(message_id: str, content_type: ContentType) -> UUID:
    """Return the id, known in advance, of the row for a model message's text or thinking."""
    return uuid5(NAMESPACE_OID, f"{message_id} {content_type}")


def user_text(text: str, author: JSON | None = None) -> Draft:
    """Return the row of a person's message; `author`: the `id` and `name` of who signed in."""
    metadata = {"author": author} if author else {}
    return Draft(MessageType.USER, ContentType.TEXT, {"text": text}, metadata=metadata)


def notice(text: str, status: MessageStatus = MessageStatus.COMPLETED) -> Draft:
    """Return the row of a notice that says what happened."""
    return Draft(MessageType.SYSTEM, ContentType.NOTICE, {"text": text}, status=status)


def todos(todos: list[JSON], agent: str) -> Draft:
    """Return the row of the agent's whole todo list; each change adds such a row."""
    return Draft(MessageType.TOOL, ContentType.TODOS, {"todos": todos}, agent=agent)


def readable_todos(value: Any) -> list[JSON]:
    """Return a state's todos that have text, with ids; values of another shape are skipped."""
    with_ids = todo_ids.with_ids(value) if isinstance(value, list) else []
    known = [todo for todo in with_ids if isinstance(todo, dict)]
    return [
        {
            "id": todo["id"],
            "content": str(todo["content"]),
            "status": str(todo.get("status") or "pending"),
        }
        for todo in known
        if todo.get("content")
    ]


def error(title: str, detail: str, metadata: JSON | None = None) -> Draft:
    """Return the row that says why a turn failed and what to do; pages read `metadata`."""
    return Draft(
        MessageType.SYSTEM,
        ContentType.ERROR,
        {"title": title, "detail": detail},
        status=MessageStatus.FAILED,
        metadata=metadata or {},
    )


def assistant_drafts(message: JSON, agent: str, status: MessageStatus) -> list[Draft]:
    """Return the rows of one model message: thinking, text, then its calls as running.

    `status` is the status of thinking and text: completed, or stopped for a partial answer.
    """
    if (message.get("additional_kwargs") or {}).get(RESPONSE, {}).get("observed"):
        return []
    metadata = _assistant_metadata(message)
    response = message.get("response_metadata", {})
    rows: list[Draft] = []
    if thinking := message.get("additional_kwargs", {}).get("reasoning_content"):
        row = _said(message, ContentType.THINKING, thinking, status)
        rows.append(replace(row, metadata=_sent_as(message)))
    if text := text_of(message):
        rows.append(_said(message, ContentType.TEXT, text, status))
    for call in message.get("tool_calls", ()):
        rows.append(_assistant(ContentType.TOOL_CALL, _call(call), MessageStatus.EXECUTING))
    reason = response.get("finish_reason")
    if reason in CUT_SHORT:
        rows.append(notice(CUT_SHORT[reason]))
    if UNSHOWN in response:
        rows.append(notice(NOT_SHOWN.format(listed(response[UNSHOWN]))))
    if NOT_KEPT in response:
        rows.append(notice(TOO_MUCH_TO_KEEP.format(response[NOT_KEPT])))
    if not rows or (status is MessageStatus.COMPLETED and _says_nothing(message)):
        rows.append(notice("The model gave an empty answer. Ask again, or rephrase the message."))
    _add_details(rows, _sources(response) | _usage(message))
    return [
        replace(row, sequence=i, agent=agent, metadata=metadata | row.metadata)
        for i, row in enumerate(rows)
    ]


def _says_nothing(message: JSON) -> bool:
    """Return whether a whole answer has nothing to show or to run, nor a reason for that."""
    response = message.get("response_metadata", {})
    is_explained = response.get("finish_reason") in CUT_SHORT or UNSHOWN in response
    return not (text_of(message).strip() or message.get("tool_calls") or is_explained)


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


def tool_draft(message: JSON, artifact: Mapping[str, Any] | None, agent: str) -> Draft:
    """Return the row of one tool result; it has a table's first rows, `result` all of them."""
    content = {
        "tool_call_id": message.get("tool_call_id"),
        "name": message.get("name"),
        "content": text_of(message),
        "is_error": message.get("status") == "error",
    }
    table, whole = _table(artifact)
    outcome = outcome_of(message)
    return Draft(
        MessageType.TOOL,
        ContentType.TOOL_RESULT,
        content,
        status=call_status(message),
        agent=agent,
        metadata=({"table": table} if table else {})
        | ({"outcome": outcome.value} if outcome else {}),
        result=whole,
    )


def call_status(result: JSON) -> MessageStatus:
    """Return the final status of the call that this tool message answers."""
    return MessageStatus.FAILED if result.get("status") == "error" else MessageStatus.COMPLETED


def text_of(message: JSON) -> str:
    """Return the text of a message, also where its content is a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content or []
    return "".join(
        block if isinstance(block, str) else block.get("text", "")
        for block in blocks
        if isinstance(block, str) or block.get("type") == "text"
    )


def _said(message: JSON, content_type: ContentType, text: str, status: MessageStatus) -> Draft:
    row = _assistant(content_type, {"text": text}, status)
    name = message.get("id")
    return replace(row, id=shown_id(name, content_type)) if name else row


def _assistant(content_type: ContentType, content: JSON, status: MessageStatus) -> Draft:
    return Draft(MessageType.ASSISTANT, content_type, content, status=status)


def _assistant_metadata(message: JSON) -> JSON:
    model = message.get("response_metadata", {}).get(MODEL_NAME)
    named = {MODEL_NAME: model} if model else {}
    response = (message.get("additional_kwargs") or {}).get(RESPONSE)
    return named | ({RESPONSE: response} if response else {})


def _sources(response: JSON) -> JSON:
    return {
        name: response[name] for name in (SOURCES, MORE_SOURCES, EXECUTED) if response.get(name)
    }


def _usage(message: JSON) -> JSON:
    """Return the tokens of the model call that gave the message, if its endpoint reported them."""
    used = message.get("usage_metadata")
    if not used:
        return {}
    tokens = {
        "input_tokens": used.get("input_tokens", 0),
        "cached_tokens": (used.get("input_token_details") or {}).get("cache_read", 0),
        "output_tokens": used.get("output_tokens", 0),
        "reasoning_tokens": (used.get("output_token_details") or {}).get("reasoning", 0),
    }
    return {USAGE: tokens}


def _add_details(rows: list[Draft], details: JSON) -> None:
    """Add what concerns the whole message to its text's row, or to the first if it has no text."""
    texts = (place for place, row in enumerate(rows) if row.content_type is ContentType.TEXT)
    place = next(texts, 0)
    rows[place] = replace(rows[place], metadata=rows[place].metadata | details)


def _sent_as(message: JSON) -> JSON:
    """Return the fields in which the provider gets the thinking back, for rebuilding a state."""
    kept = message.get("additional_kwargs", {}).get(KEPT) or {}
    names = kept.get(THINKING)
    return {KEPT: {FOR: kept.get(FOR), THINKING: names}} if names else {}


def _call(call: JSON) -> JSON:
    function = call.get("function", {})
    return {
        "call_id": call.get("id"),
        "name": function.get("name"),
        "arguments": _arguments(function.get("arguments")),
    }


def _arguments(text: str | None) -> Any:
    """Return the arguments as JSONB values; the text itself if it is not a JSON object."""
    try:
        return parse_arguments(text or "")
    except ValueError:
        return text


def _file(file: JSON, message: JSON, agent: str) -> Draft:
    """Return an image or another file of a tool result; its bytes are stored separately."""
    is_image = file["kind"] == "image"
    described = {key: file[key] for key in ("name", "mime_type", "bytes")}
    return Draft(
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
