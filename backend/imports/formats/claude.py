"""Claude's export: `conversations.json` with messages of blocks, in a tree by their parents' ids.

The shape is in docs/imports.md. The export has no files, only texts that were taken from them.
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
    Role,
    Skipped,
    Text,
    Thinking,
)
from backend.imports.upload import Entry, Upload
from backend.imports.values import (
    Notes,
    arguments,
    data_url,
    digest,
    entries_of,
    first_text,
    has_some,
    identifier,
    moment,
    name,
    objects,
    objects_of,
    text,
    written,
)
from backend.types import JSON

NAME = "claude"
LABEL = "Claude"
_NO_PARENT = "00000000-0000-4000-8000-000000000000"
_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}


def looks_like(upload: Upload) -> bool:
    """Return whether a JSON file begins with a conversation that has chat messages."""
    return has_some(upload, _begins)


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the conversations of all files of this shape."""
    for entry in entries_of(upload, _begins):
        for item in objects_of(upload, entry):
            yield item if isinstance(item, Skipped) else _conversation(item)


def _begins(_: Entry, head: bytes) -> bool:
    return b'"chat_messages"' in head


def _conversation(item: JSON) -> ImportedConversation | Skipped:
    source_id = identifier(item.get("uuid")) or digest(item)
    title = name(item.get("name"))
    notes = Notes()
    builder = Builder(notes)
    last: str | None = None
    for number, message in enumerate(objects(item.get("chat_messages"))):
        key = identifier(message.get("uuid")) or f"message-{number}"
        parent = identifier(message.get("parent_message_uuid"))
        if "parent_message_uuid" not in message:
            parent = last  # older exports have a list, no tree
        elif parent == _NO_PARENT:
            parent = None
        _add(builder, key, parent, message, notes)
        last = key
    messages, current = builder.finish(item.get("current_leaf_message_uuid"))
    if not messages:
        return Skipped(source_id, title, "It has no messages.")
    if item.get("summary"):
        notes.say("Claude's summary of the conversation was left out.")
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title=title,
        messages=messages,
        current=current,
        created_at=moment(item.get("created_at")),
        updated_at=moment(item.get("updated_at")),
        model=name(item.get("model")) or None,
        notes=notes.sentences(),
    )


def _add(builder: Builder, key: str, parent: str | None, message: JSON, notes: Notes) -> None:
    sender = text(message.get("sender"))
    if sender not in _ROLES:
        notes.say(
            f"A message is from the unknown sender {name(sender)!r}; it was read as an answer."
        )
    blocks = objects(message.get("content"))
    parts = [part for block in blocks for part in _block(block, notes)]
    if not any(isinstance(part, Text) and part.text.strip() for part in parts):
        # Old exports have only this; in newer ones it repeats the blocks.
        alone = not any(isinstance(part, Call | Result) for part in parts)
        parts += [Text(text(message.get("text")))] if alone else []
    builder.add(
        key,
        parent,
        _ROLES.get(sender, "assistant"),
        [*parts, *_files(message, notes)],
        at=message.get("created_at"),
        model=message.get("model"),
    )


def _block(block: JSON, notes: Notes) -> list[Part]:
    kind = text(block.get("type"))
    if kind == "text":
        return [Text(text(block.get("text")))]
    if kind == "thinking":
        thought = text(block.get("thinking"))
        summaries = [text(one.get("summary")) for one in objects(block.get("summaries"))]
        return [Thinking(thought if thought.strip() else "\n\n".join(summaries))]
    if kind == "tool_use":
        return [
            Call(identifier(block.get("id")) or "", name(block.get("name")), _input(block)),
        ]
    if kind == "tool_result":
        said, files = _result(block.get("content"), notes)
        call_id = identifier(block.get("tool_use_id")) or ""
        return [
            Result(call_id, name(block.get("name")), said, block.get("is_error") is True),
            *files,
        ]
    found = text(block.get("text"))
    what = "its text was kept" if found else "it was left out"
    notes.say(f"A block is of the unknown kind {name(kind)!r}; {what}.")
    return [Text(found)]


def _input(block: JSON) -> Any:
    return arguments(block.get("input"))


def _result(content: Any, notes: Notes) -> tuple[str, list[Part]]:
    """Return the text of a result, and the pictures that it names."""
    if not isinstance(content, list):
        return written(content), []
    lines: list[str] = []
    files: list[Part] = []
    for block in content:
        block = block if isinstance(block, dict) else {"type": "text", "text": block}
        kind = text(block.get("type"))
        title, url = first_text(block, "title", "name", "file_path"), text(block.get("url"))
        if kind == "text":
            lines.append(text(block.get("text")))
        elif kind == "knowledge":
            lines.append("\n".join(filter(None, (title, url, text(block.get("text"))))))
        elif kind in ("local_resource", "image"):
            files.append(Attachment(name(title) or kind, _media_type(block), None))
        else:
            lines.append(written(block))
            notes.say(f"A result has a part of the unknown kind {name(kind)!r}, kept as it stands.")
    return "\n\n".join(lines), files


def _media_type(block: JSON) -> str:
    return name(first_text(block, "mime_type", "media_type")) or "application/octet-stream"


def _files(message: JSON, notes: Notes) -> list[Part]:
    """Return the files of a message: those with a text that was taken from them, as that text."""
    found: dict[str, Part] = {}
    for file in objects(message.get("attachments")):
        called, content = name(file.get("file_name")), text(file.get("extracted_content"))
        if content:
            # Long texts that were pasted have no name.
            called = called or "pasted.txt"
            found[called] = Attachment(called, "text/plain", data_url(content))
            notes.say("Of an attached file, the export has only the text that was taken from it.")
        else:
            found.setdefault(called, _missing(file, called))
    for kind in ("files", "files_v2"):
        for file in objects(message.get(kind)):
            called = name(file.get("file_name")) or identifier(file.get("file_uuid")) or "file"
            found.setdefault(called, _missing(file, called))
    return list(found.values())


def _missing(file: JSON, called: str) -> Attachment:
    media_type = name(first_text(file, "file_type", "mime_type"))
    is_kind = "/" in media_type
    return Attachment(called or "file", media_type if is_kind else "application/octet-stream", None)
