"""LibreChat's export of a conversation: a tree (`recursive`) or a list of messages.

The shape is in docs/imports.md.
"""

from collections.abc import Iterator
from typing import Any

from backend.imports.builder import Builder
from backend.imports.model import (
    Attachment,
    Call,
    ImportedConversation,
    Part,
    Result,
    Skipped,
    Text,
    Thinking,
)
from backend.imports.upload import Entry, Upload
from backend.imports.values import (
    Notes,
    arguments,
    digest,
    entries_of,
    first_text,
    has_some,
    identifier,
    mapping,
    name,
    objects,
    objects_of,
    text,
    written,
)
from backend.types import JSON

NAME = "librechat"
LABEL = "LibreChat"
_NO_PARENT = "00000000-0000-0000-0000-000000000000"


def looks_like(upload: Upload) -> bool:
    """Return whether a JSON file begins with a conversation of LibreChat."""
    return has_some(upload, _begins)


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the conversations of all files of this shape."""
    for entry in entries_of(upload, _begins):
        for item in objects_of(upload, entry):
            yield item if isinstance(item, Skipped) else _conversation(item)


def _begins(_: Entry, head: bytes) -> bool:
    has_messages = b'"messages"' in head or b'"messagesTree"' in head
    return has_messages and b'"conversationId"' in head and b'"endpoint"' in head


def _conversation(item: JSON) -> ImportedConversation | Skipped:
    source_id = identifier(item.get("conversationId")) or digest(item)
    title = name(item.get("title"))
    notes = Notes()
    builder = Builder(notes)
    last: str | None = None
    for key, parent, message in _flat(item):
        _add(builder, key, parent, message, notes)
        last = key
    messages, current = builder.finish(last)
    if not messages:
        return Skipped(source_id, title, "It has no messages.")
    if item.get("branches") is False:
        notes.say("It was exported without its other branches.")
    options = mapping(item.get("options"))
    if first_text(options, "promptPrefix", "system", "instructions"):
        notes.say("The conversation's own instructions to the model were left out.")
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title=title,
        messages=messages,
        current=current,
        created_at=next((at for at in (one.created_at for one in messages) if at), None),
        model=name(first_text(options, "model")) or None,
        notes=notes.sentences(),
    )


def _flat(item: JSON) -> Iterator[tuple[str, str | None, JSON]]:
    """Yield the messages with the ids of their own and their parents, parents first."""
    top = item.get("messagesTree") or item.get("messages")
    if isinstance(top, dict):  # the root of the tree, which is no message itself
        top = [top] if "messageId" in top else top.get("children")
    waiting: list[tuple[str | None, bool, JSON]] = [
        (None, False, message) for message in reversed(objects(top))
    ]
    number = 0
    last: str | None = None
    while waiting:
        above, is_inside, message = waiting.pop()
        number += 1
        key = identifier(message.get("messageId")) or f"message-{number}"
        parent = identifier(message.get("parentMessageId"))
        if is_inside:
            parent = above
        elif parent == _NO_PARENT:
            parent = None
        elif "parentMessageId" not in message:
            parent = last
        yield key, parent, message
        last = key
        waiting += [(key, True, child) for child in reversed(objects(message.get("children")))]


def _add(builder: Builder, key: str, parent: str | None, message: JSON, notes: Notes) -> None:
    blocks = message.get("content")
    parts: list[Part] = []
    for block in blocks if isinstance(blocks, list) else [blocks] if blocks else []:
        parts += _block(
            block if isinstance(block, dict) else {"type": "text", "text": block}, notes
        )
    if not parts:
        parts.append(Text(text(message.get("text"))))
    if message.get("error") is True:
        notes.say("A message is an error that LibreChat showed; it was kept as text.")
    if message.get("unfinished") is True:
        notes.say("An answer was not finished.")
    role = text(message.get("sender")).lower()
    is_person = message.get("isCreatedByUser", role == "user") is True
    builder.add(
        key,
        parent,
        "system" if role == "system" else "user" if is_person else "assistant",
        [*parts, *_files(message)],
        at=message.get("createdAt"),
        author=None if is_person else message.get("sender"),
        model=None if is_person else message.get("model"),
    )


def _block(block: JSON, notes: Notes) -> list[Part]:
    kind = text(block.get("type"))
    if kind == "text":
        return [Text(_value(block.get("text")))]
    if kind == "think":
        return [Thinking(_value(block.get("think")))]
    if kind == "tool_call":
        return _call(mapping(block.get("tool_call")))
    if kind == "error":
        return [Text(f"Error: {_value(block.get('error') or block.get('text'))}")]
    if kind in ("image_file", "image_url"):
        return [_picture(mapping(block.get(kind)))]
    found = _value(block.get("text"))
    what = "its text was kept" if found else "it was left out"
    notes.say(f"A part is of the unknown kind {name(kind)!r}; {what}.")
    return [Text(found)]


def _value(value: Any) -> str:
    return text(value.get("value")) if isinstance(value, dict) else text(value)


def _call(call: JSON) -> list[Part]:
    """Return a call, which stands in one block with its result."""
    inside = mapping(call.get("function")) or mapping(call.get("code_interpreter")) or call
    called = name(inside.get("name") or call.get("type"))
    asked: Any = next(
        (inside[key] for key in ("args", "arguments", "input") if inside.get(key)), {}
    )
    returned = written(next((inside[key] for key in ("output", "outputs") if inside.get(key)), ""))
    call_id = identifier(call.get("id")) or ""
    parts: list[Part] = [Call(call_id, called, arguments(asked))]
    return [*parts, Result(call_id, called, returned)] if returned else parts


def _picture(picture: JSON) -> Attachment:
    url = text(picture.get("url"))
    called = name(first_text(picture, "filename", "filepath", "file_id")).rpartition("/")[2]
    if url.startswith("data:"):
        return Attachment(called or "picture", name(url[5:100].partition(";")[0]), url)
    called = called or name(url) or "picture"
    return Attachment(called, name(picture.get("type")) or "image/*", None)


def _files(message: JSON) -> list[Part]:
    found: dict[str, Part] = {}
    for file in (*objects(message.get("files")), *objects(message.get("attachments"))):
        called = name(first_text(file, "filename", "name", "filepath", "file_id"))
        called = called.rpartition("/")[2]
        if called and called not in found:
            media_type = name(file.get("type"))
            is_kind = "/" in media_type
            media_type = media_type if is_kind else "application/octet-stream"
            found[called] = Attachment(called, media_type, None)
    return list(found.values())
