"""OpenAI's JSON Lines, as used for fine-tuning: `{"messages": [...]}` in each line."""

import hashlib
from collections.abc import Iterator
from typing import Any

from backend.imports.json_stream import LONGEST_ITEM, Unreadable, parse
from backend.imports.model import (
    Attachment,
    Call,
    ImportedConversation,
    ImportedMessage,
    Part,
    Result,
    Role,
    Skipped,
    Text,
    Thinking,
)
from backend.imports.upload import Upload
from backend.types import JSON

NAME = "openai_lines"
LABEL = "OpenAI JSON Lines"
_ROLES: dict[Any, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_RESULTS = ("tool", "function")


def looks_like(upload: Upload) -> bool:
    """Return whether the first line of a file is an object with messages that have roles."""
    return any(_begins(upload, entry.name) for entry in upload.entries[:20])


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield a conversation for each line of each file of this form."""
    for entry in upload.entries:
        if not _begins(upload, entry.name):
            continue
        for number, line in enumerate(upload.lines(entry.name, LONGEST_ITEM), 1):
            where = f"{entry.base}, line {number}"
            if line is None:
                yield Skipped(where, "", "The line is longer than the limit of 32 MiB.")
            elif line.strip():
                yield _read_line(line, where)


def _begins(upload: Upload, name: str) -> bool:
    head = upload.head(name).removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.split(b"\n")[0]
    return first.startswith(b"{") and b'"messages"' in first and b'"role"' in first


def _read_line(line: bytes, where: str) -> ImportedConversation | Skipped:
    value = parse(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    if isinstance(value, Unreadable):
        return Skipped(where, "", value.reason)
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        return Skipped(where, "", "It has no list of messages.")
    notes: list[str] = []
    read: list[ImportedMessage] = []
    names: dict[str, str] = {}  # of the calls, by id
    for number, message in enumerate(messages, 1):
        found = _message(message, number, read[-1].id if read else None, names)
        if found is None:
            notes.append(f"Message {number} has an unknown form and was left out.")
        else:
            read.append(found)
    unused = sorted(value.keys() - {"messages", "id", "model", "title"})
    if unused:
        notes.append(f"Not kept of the line: {', '.join(unused)[:200]}.")
    digest = hashlib.sha256(line.strip()).hexdigest()
    return ImportedConversation(
        source=NAME,
        source_id=str(value.get("id") or digest),
        title=str(value.get("title") or ""),
        messages=read,
        model=value["model"] if isinstance(value.get("model"), str) else None,
        notes=notes,
    )


def _message(
    message: Any, number: int, parent: str | None, names: dict[str, str]
) -> ImportedMessage | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    parts = list(_content(message.get("content")))
    if message["role"] in _RESULTS:
        call_id = str(message.get("tool_call_id") or message.get("name") or "")
        name = str(message.get("name") or names.get(call_id, ""))
        text = "".join(part.text for part in parts if isinstance(part, Text))
        parts = [Result(call_id, name, text)]
        return ImportedMessage(str(number), parent, "tool", parts)
    if (role := _ROLES.get(message["role"])) is None:
        return None
    author = message.get("name")
    return ImportedMessage(
        str(number),
        parent,
        role,
        [*_thinking(message), *parts, *_calls(message, names)],
        author=author if isinstance(author, str) else None,
    )


def _thinking(message: JSON) -> Iterator[Part]:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        yield Thinking(thought)


def _content(content: Any) -> Iterator[Part]:
    if isinstance(content, str) and content:
        yield Text(content)
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            yield Text(block)
        elif kind in ("text", "input_text", "output_text", "refusal"):
            yield Text(str(block.get("text") or block.get("refusal") or ""))
        elif kind == "image_url":
            yield _picture(block.get("image_url"))
        elif kind is not None:
            yield Attachment(str(kind), "application/octet-stream", None)


def _picture(value: Any) -> Attachment:
    url = value.get("url") if isinstance(value, dict) else value
    if isinstance(url, str) and url.startswith("data:"):
        return Attachment("picture", url[5:].partition(";")[0] or "image/png", url)
    return Attachment(str(url or "picture"), "image/*", None)


def _calls(message: JSON, names: dict[str, str]) -> Iterator[Call]:
    calls = message.get("tool_calls")
    if isinstance(message.get("function_call"), dict):
        function = message["function_call"]
        calls = [{"id": function.get("name"), "function": function}]
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name, call_id = str(function.get("name") or ""), str(call.get("id") or "")
            names[call_id] = name
            yield Call(call_id, name, function.get("arguments"))
