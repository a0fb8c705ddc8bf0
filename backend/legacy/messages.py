"""The messages of the older system, as the writer of imports takes them. Pure.

A message has a `role` and a `content`: a text, or parts. AgentX keeps calls and their results as
messages of their own (`toolCall`, `toolResult`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from backend.imports.model import (
    Attachment,
    Call,
    ImportedMessage,
    Part,
    Result,
    Role,
    Text,
    Thinking,
)
from backend.legacy.values import Unreadable, as_object, as_record, read_json, read_text, read_time
from backend.types import JSON

_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "error": "assistant",
    "system": "system",
    "tool": "tool",
}


def read_messages(found: Sequence[Any], now: datetime, notes: list[str]) -> list[ImportedMessage]:
    """Return messages in their order, each after the one before; `notes` gets what was left out."""
    read: list[ImportedMessage] = []
    names: dict[str, str] = {}  # of the calls, by id
    left: dict[str, int] = {}  # why messages or parts were left out, and how many
    for one in found:
        record = as_record(one) if isinstance(one, Mapping) else {}
        role = _ROLES.get(read_text(record.get("role"))[0].strip().lower())
        if role is None:
            _count(left, "A message of an unknown role was left out")
            continue
        parts = list(_parts_of(record, names, left))
        if any(isinstance(part, Result) for part in parts):
            role = "tool"
        if not parts:
            _count(left, "A message without content was left out")
            continue
        made = read_time(record.get("timestamp") or record.get("createdat"), now)
        parent = read[-1].id if read else None
        author = read_text(record.get("name"))[0] or None
        read.append(ImportedMessage(str(len(read) + 1), parent, role, parts, made, author))
    notes += [f"{what}{f' ({count} times)' if count > 1 else ''}." for what, count in left.items()]
    return read


def _parts_of(record: JSON, names: dict[str, str], left: dict[str, int]) -> Iterator[Part]:
    call, result = as_object(record.get("toolcall")), as_object(record.get("toolresult"))
    if call:
        yield _call(call, names)
    elif result:
        yield _result(result, record, names)
    else:
        for part in _content(record.get("content"), left):
            yield from _part(part, record, names, left)


def _content(content: Any, left: dict[str, int]) -> list[Any]:
    """Return the parts of a content; also of one that is the JSON of parts, as a text."""
    text, is_broken = read_text(content) if isinstance(content, bytes | str) else ("", False)
    if is_broken:
        _count(left, "A message has bytes that are no UTF-8; they show as �")
    if text.lstrip().startswith("["):
        with suppress(Unreadable):
            content = read_json(text)
    if isinstance(content, list) and all(
        isinstance(one, dict) and "type" in one for one in content
    ):
        return content
    return [{"type": "text", "text": text}] if text else []


def _part(part: JSON, record: JSON, names: dict[str, str], left: dict[str, int]) -> Iterator[Part]:
    kind = str(part.get("type")).replace("_", "-")
    if kind == "text":
        if text := str(part.get("text") or ""):
            is_error = record.get("role") in ("error", b"error")
            yield Text(f"**Error:** {text}" if is_error else text)
    elif kind == "thinking":
        if text := str(part.get("reasoning") or part.get("thinking") or ""):
            yield Thinking(text)
    elif kind in ("tool-call", "tool-use"):
        yield _call(part, names)
    elif kind == "tool-result":
        yield _result(part, record, names)
    elif kind in ("image", "file"):
        yield _attachment(part, kind)
    else:
        _count(left, f"A part of the unknown type {kind[:40]!r} was left out")


def _call(part: JSON, names: dict[str, str]) -> Call:
    call_id, name = str(part.get("id") or ""), str(part.get("name") or "tool")
    names[call_id] = name
    return Call(call_id, name, part.get("input") or {})


def _result(part: JSON, record: JSON, names: dict[str, str]) -> Result:
    call_id = str(
        part.get("id") or part.get("tool_use_id") or read_text(record.get("toolcallid"))[0]
    )
    output = part.get("output", part.get("content"))
    kind, value = ("", output)
    if isinstance(output, dict) and "type" in output:
        kind, value = str(output["type"]), output.get("value", output.get("reason"))
    if isinstance(value, list):
        texts = [str(one["text"]) for one in value if isinstance(one, dict) and "text" in one]
        value = "\n".join(texts) if texts else value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    is_error = kind.startswith(("error", "execution-denied")) or bool(part.get("is_error"))
    name = str(part.get("name") or names.get(call_id, "tool"))
    return Result(call_id, name, text, is_error)


def _attachment(part: JSON, kind: str) -> Attachment:
    media_type = str(part.get("mediaType") or "application/octet-stream")
    data = part.get("data")
    name = str(part.get("name") or part.get("filename") or kind)
    if not isinstance(data, str) or data.startswith(("http:", "https:")):
        return Attachment(name, media_type, None)
    is_url = data.startswith("data:")
    return Attachment(name, media_type, data if is_url else f"data:{media_type};base64,{data}")


def _count(left: dict[str, int], what: str) -> None:
    left[what] = left.get(what, 0) + 1
