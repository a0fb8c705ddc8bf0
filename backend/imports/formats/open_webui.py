"""Open WebUI's export: chats with a tree of messages, or a list of them.

The shape is in docs/imports.md. What a model did is written twice: as HTML in `content`, for old
pages, and as items in `output`; the items are read where there are some.
"""

import html
import re
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
    digest,
    entries_of,
    first_text,
    has_some,
    identifier,
    mapping,
    moment,
    name,
    objects,
    objects_of,
    sequence,
    text,
    written,
)
from backend.types import JSON

NAME = "open_webui"
LABEL = "Open WebUI"
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_DETAILS = re.compile(r'<details\s+type="(reasoning|tool_calls|code_interpreter)"([^<>]*)>')
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_SUMMARY = re.compile(r"\s*<summary>[^<]*</summary>\s*")
_END = "</details>"
_NESTED = 3  # a chat inside of a chat inside of an entry


def looks_like(upload: Upload) -> bool:
    """Return whether a JSON file begins with a chat."""
    return has_some(upload, _begins)


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the chats of all files of this shape."""
    for entry in entries_of(upload, _begins):
        for item in objects_of(upload, entry):
            yield item if isinstance(item, Skipped) else _conversation(item)


def _begins(_: Entry, head: bytes) -> bool:
    has_tree = b'"history"' in head and (b'"childrenIds"' in head or b'"currentId"' in head)
    return has_tree or (b'"chat"' in head and b'"models"' in head and b'"messages"' in head)


def _conversation(item: JSON) -> ImportedConversation | Skipped:
    chat = item
    for _ in range(_NESTED):
        chat = chat["chat"] if isinstance(chat.get("chat"), dict) else chat
    source_id = identifier(item.get("id")) or identifier(chat.get("id")) or digest(item)
    title = name(item.get("title")) or name(chat.get("title"))
    notes = Notes()
    builder = Builder(notes)
    current = _add_all(builder, chat, notes)
    messages, current = builder.finish(current)
    if not messages:
        return Skipped(source_id, title, "It has no messages.")
    if text(chat.get("system")) or text(mapping(chat.get("params")).get("system")):
        notes.say("The chat's own system prompt was left out.")
    models = sequence(chat.get("models"))
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title=title,
        messages=messages,
        current=current,
        created_at=moment(item.get("created_at")) or moment(chat.get("timestamp")),
        updated_at=moment(item.get("updated_at")),
        model=name(models[0]) or None if models else None,
        notes=notes.sentences(),
    )


def _add_all(builder: Builder, chat: JSON, notes: Notes) -> Any:
    """Add the messages of a chat; return the id of the current one."""
    history = mapping(chat.get("history"))
    tree = history.get("messages")
    if isinstance(tree, dict) and tree:
        for key, message in tree.items():
            if isinstance(message, dict):
                parent = identifier(message.get("parentId"))
                _add(builder, identifier(key) or "?", parent, message, notes)
            else:
                notes.say("A message that is no object was left out.")
        return history.get("currentId") or chat.get("currentId")
    last: str | None = None
    for number, message in enumerate(objects(tree) or objects(chat.get("messages"))):
        key = identifier(message.get("id")) or f"message-{number}"
        parent = identifier(message["parentId"]) if "parentId" in message else last
        _add(builder, key, parent, message, notes)
        last = key
    return history.get("currentId") or last


def _add(builder: Builder, key: str, parent: str | None, message: JSON, notes: Notes) -> None:
    role = text(message.get("role"))
    if role not in _ROLES:
        notes.say(f"A message has the unknown role {name(role)!r}; it was read as an answer.")
    items = objects(message.get("output"))
    parts = _output(items, notes) if items else _content(message.get("content"), notes)
    error = message.get("error")
    if error:
        said = text(mapping(error).get("content")) or written(error) if error is not True else ""
        parts.append(Text(f"Error: {said or 'the answer failed'}"))
    if message.get("merged"):
        notes.say("An answer that was merged from several was left out; these are here.")
    builder.add(
        key,
        parent,
        _ROLES.get(role, "assistant"),
        [*parts, *(file for file in _files(message) if file not in parts)],
        at=message.get("timestamp"),
        model=message.get("model"),
    )


def _output(items: list[JSON], notes: Notes) -> list[Part]:
    """Return the parts of an answer from its items, each result after its call."""
    results = {
        identifier(item.get("call_id")): item
        for item in items
        if item.get("type") == "function_call_output"
    }
    parts: list[Part] = []
    for item in items:
        kind = text(item.get("type"))
        call_id = identifier(item.get("call_id")) or identifier(item.get("id"))
        if kind == "message":
            parts.append(Text(_joined(item.get("content"))))
        elif kind == "reasoning":
            parts.append(Thinking(_joined(item.get("content")) or _joined(item.get("summary"))))
        elif kind == "function_call":
            called = name(item.get("name"))
            parts.append(Call(call_id or "", called, arguments(item.get("arguments"))))
            if (result := results.pop(call_id, None)) is not None:
                parts.append(Result(call_id or "", called, _joined(result.get("output"))))
                parts += _files(result)
        elif kind == "open_webui:code_interpreter":
            parts += _code(text(item.get("code")), item.get("output"))
        elif kind != "function_call_output":
            found = _joined(item.get("content")) or text(item.get("text"))
            what = "its text was kept" if found else "it was left out"
            notes.say(f"A part of an answer is of the unknown kind {name(kind)!r}; {what}.")
            parts.append(Text(found))
    for call_id, result in results.items():
        parts.append(Result(call_id or "", "", _joined(result.get("output"))))
    return parts


def _joined(content: Any) -> str:
    """Return the text of an item, whose content is a text or a list of texts."""
    if not isinstance(content, list):
        return written(content)
    pieces = [
        first_text(mapping(one), "text", "refusal") if isinstance(one, dict) else text(one)
        for one in content
    ]
    return "".join(pieces)


def _content(content: Any, notes: Notes) -> list[Part]:
    """Return the parts of a message's content: a text, or a list as models are sent it."""
    if not isinstance(content, list):
        return _details(text(content))
    parts: list[Part] = []
    for block in content:
        kind = text(mapping(block).get("type"))
        if kind == "image_url":
            url = mapping(block).get("image_url")
            parts.append(_picture(mapping(url).get("url") or url, "picture"))
        elif found := first_text(mapping(block), "text", "content") or text(block):
            parts += _details(found)
        else:
            notes.say(f"A part of the unknown kind {name(kind)!r} was left out.")
    return parts


def _details(said: str) -> list[Part]:
    """Return the parts of a text in which calls and thoughts stand as HTML."""
    parts: list[Part] = []
    position = 0
    while (found := _DETAILS.search(said, position)) is not None:
        end = said.find(_END, found.end())
        if end < 0:
            break
        parts.append(Text(said[position : found.start()]))
        inner = _SUMMARY.sub("", said[found.end() : end], count=1)
        attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(found[2])}
        parts += _detail(found[1], attributes, html.unescape(inner).strip())
        position = end + len(_END)
    parts.append(Text(said[position:]))
    return parts


def _detail(kind: str, attributes: dict[str, str], inner: str) -> list[Part]:
    if kind == "reasoning":
        lines = [line.removeprefix(">").removeprefix(" ") for line in inner.splitlines()]
        return [Thinking("\n".join(lines))]
    if kind == "code_interpreter":
        code = re.sub(r"^```\w*\n|\n?```$", "", inner)
        return _code(code, arguments(attributes.get("output") or ""))
    call_id, called = attributes.get("id", ""), name(attributes.get("name")) or "tool"
    parts: list[Part] = [Call(call_id, called, arguments(attributes.get("arguments", "")))]
    returned = attributes.get("result") or inner
    if attributes.get("done") != "false" and returned:
        parts.append(Result(call_id, called, _unquoted(returned)))
    return parts


def _unquoted(returned: str) -> str:
    found = arguments(returned)
    return written(found) if found else returned


def _code(code: str, output: Any) -> list[Part]:
    parts: list[Part] = [Call("", "code_interpreter", {"code": code})]
    if output:
        texts = first_text(mapping(output), "stdout", "result", "stderr")
        parts.append(Result("", "code_interpreter", texts or written(output)))
    return parts


def _files(message: JSON) -> list[Part]:
    """Return the files of a message; the export holds pictures at most, the others are named."""
    parts: list[Part] = []
    for file in objects(message.get("files")):
        inside = mapping(file.get("file"))
        meta = mapping(inside.get("meta"))
        called = name(first_text(file, "name", "title")) or name(
            first_text(inside, "filename", "name") or first_text(meta, "name")
        )
        url = text(file.get("url"))
        if text(file.get("type")) == "image" or url.startswith("data:"):
            parts.append(_picture(url, called or "picture"))
            continue
        media_type = first_text(file, "content_type") or first_text(meta, "content_type")
        called = called or name(url) or "file"
        parts.append(Attachment(called, name(media_type) or "application/octet-stream", None))
    return parts


def _picture(url: Any, called: str) -> Attachment:
    where = text(url)
    if where.startswith("data:"):
        return Attachment(called, name(where[5:100].partition(";")[0]) or "image/png", where)
    return Attachment(name(where) or called, "image/*", None)
