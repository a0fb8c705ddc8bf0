"""Splitting messages of the agent state into the rows that people see: pure rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from colloquy_kit.messages.arguments import MODEL_NAME, REASONING, parse_arguments
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from colloquy_kit.messages.todos import with_ids
from colloquy_kit.types import JSON

USAGE = "usage"  # metadata of one row of a model message: the tokens of its call
UNSHOWN = "unshown"  # kinds of parts that people do not see, in a message's metadata
CUT_SHORT = {
    "length": "The answer ends here because it reached the model's limit of length.",
    "content_filter": "The provider's content filter ended the answer here.",
}
NOT_SHOWN = "The model's answer has parts that cannot be shown here: {}."
EMPTY = "The model gave an empty answer. Ask again, or rephrase the message."
# Blocks of a message's content, by the name that each provider gives them.
_TEXTS = ("text", "output_text")
_THOUGHTS = ("thinking", "reasoning", "redacted_thinking")
_CALLS = ("tool_use", "tool_call", "function_call", "input_json_delta")  # in `tool_calls`, too


@dataclass(frozen=True)
class Draft:
    """A display message before it has a position; `sequence` orders the rows of one message."""

    message_type: MessageType
    content_type: ContentType
    content: JSON
    sequence: int = 0
    status: MessageStatus = MessageStatus.COMPLETED
    agent: str | None = None
    metadata: JSON = field(default_factory=dict)
    id: UUID | None = None  # otherwise assigned when stored


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


def todo_list(todos: list[JSON], agent: str | None = None) -> Draft:
    """Return the row of the agent's whole todo list; each change adds such a row."""
    return Draft(MessageType.TOOL, ContentType.TODOS, {"todos": todos}, agent=agent)


def readable_todos(value: Any) -> list[JSON]:
    """Return a state's todos that have text, with ids; values of another shape are skipped."""
    items = with_ids(value) if isinstance(value, list) else []
    known = [todo for todo in items if isinstance(todo, dict)]
    return [
        {
            "id": todo["id"],
            "content": str(todo["content"]),
            "status": str(todo.get("status") or "pending"),
        }
        for todo in known
        if todo.get("content")
    ]


def failure(title: str, detail: str, metadata: JSON | None = None) -> Draft:
    """Return the row that says why the agent failed and what to do; pages read `metadata`."""
    return Draft(
        MessageType.SYSTEM,
        ContentType.ERROR,
        {"title": title, "detail": detail},
        status=MessageStatus.FAILED,
        metadata=metadata or {},
    )


def assistant_drafts(
    message: JSON,
    status: MessageStatus = MessageStatus.COMPLETED,
    agent: str | None = None,
) -> list[Draft]:
    """Return the rows of one model message: thinking, text, its calls as running, and notices.

    `status` is the status of thinking and text: completed, or stopped for a partial answer.
    """
    rows: list[Draft] = []
    if thinking := thinking_of(message):
        rows.append(_said(message, ContentType.THINKING, thinking, status))
    if text := text_of(message):
        rows.append(_said(message, ContentType.TEXT, text, status))
    for call in message.get("tool_calls") or ():
        rows.append(_assistant(ContentType.TOOL_CALL, _call(call), MessageStatus.EXECUTING))
    reason = _metadata(message).get("finish_reason")
    if reason in CUT_SHORT:
        rows.append(notice(CUT_SHORT[reason]))
    if kinds := _unshown(message):
        rows.append(notice(NOT_SHOWN.format(_listed(kinds))))
    if not rows or (status is MessageStatus.COMPLETED and _says_nothing(message)):
        rows.append(notice(EMPTY))
    add_details(rows, _usage(message))
    model = _metadata(message).get(MODEL_NAME)
    named = {MODEL_NAME: model} if model else {}
    return [
        replace(row, sequence=i, agent=agent, metadata=named | row.metadata)
        for i, row in enumerate(rows)
    ]


def add_details(rows: list[Draft], details: JSON) -> None:
    """Add what concerns the whole message to its text's row, or to the first if it has no text."""
    texts = (place for place, row in enumerate(rows) if row.content_type is ContentType.TEXT)
    place = next(texts, 0)
    rows[place] = replace(rows[place], metadata=rows[place].metadata | details)


def tool_draft(message: JSON, agent: str | None = None) -> Draft:
    """Return the row of one tool result."""
    content = {
        "tool_call_id": message.get("tool_call_id"),
        "name": message.get("name"),
        "content": text_of(message),
        "is_error": message.get("status") == "error",
    }
    status = call_status(message)
    return Draft(MessageType.TOOL, ContentType.TOOL_RESULT, content, status=status, agent=agent)


def call_status(result: JSON) -> MessageStatus:
    """Return the final status of the call that this tool message answers."""
    return MessageStatus.FAILED if result.get("status") == "error" else MessageStatus.COMPLETED


def text_of(message: JSON) -> str:
    """Return the text of a message, also where its content is a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(
        block if isinstance(block, str) else block.get("text", "")
        for block in content or []
        if isinstance(block, str) or block.get("type") in _TEXTS
    )


def thinking_of(message: JSON) -> str:
    """Return what the model thought: a field beside the content, or blocks in it."""
    beside = (message.get("additional_kwargs") or {}).get(REASONING)
    if isinstance(beside, str) and beside:
        return beside
    blocks = (block for block in _blocks(message) if block.get("type") in _THOUGHTS)
    return "\n\n".join(text for text in map(_thought, blocks) if text)


def _thought(block: JSON) -> str:
    for key in ("thinking", "reasoning", "text"):
        if isinstance(block.get(key), str):
            return str(block[key])
    summary = block.get("summary")
    parts = summary if isinstance(summary, list) else []
    return "\n\n".join(str(part["text"]) for part in parts if part.get("text"))


def _unshown(message: JSON) -> Sequence[str]:
    """Return the kinds of parts that no row shows, as the message or its blocks name them."""
    shown = (*_TEXTS, *_THOUGHTS, *_CALLS)
    kinds = {str(b["type"]) for b in _blocks(message) if b.get("type") not in (*shown, None)}
    return sorted({*_metadata(message).get(UNSHOWN, ()), *kinds})


def _blocks(message: JSON) -> list[JSON]:
    content = message.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


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


def _says_nothing(message: JSON) -> bool:
    """Return whether a whole answer has nothing to show or to run, nor a reason for that."""
    is_explained = _metadata(message).get("finish_reason") in CUT_SHORT or _unshown(message)
    return not (text_of(message).strip() or message.get("tool_calls") or is_explained)


def _said(message: JSON, content_type: ContentType, text: str, status: MessageStatus) -> Draft:
    row = _assistant(content_type, {"text": text}, status)
    name = message.get("id")
    return replace(row, id=shown_id(name, content_type)) if name else row


def _assistant(content_type: ContentType, content: JSON, status: MessageStatus) -> Draft:
    return Draft(MessageType.ASSISTANT, content_type, content, status=status)


def _metadata(message: JSON) -> Mapping[str, Any]:
    return message.get("response_metadata") or {}


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


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
