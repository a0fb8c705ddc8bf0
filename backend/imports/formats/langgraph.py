"""Threads of LangGraph's PostgresSaver, as `backend/imports/langgraph_dump.py` writes them.

Each checkpoint has the messages that its parent lacks. Joined by their ids along the way from the
first one, they are the whole conversation, with what was summarised; forks are branches.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from backend.imports.builder import Builder
from backend.imports.json_stream import LONGEST_ITEM, Unreadable, parse
from backend.imports.langgraph_dump import HEAD
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
from backend.imports.upload import Upload
from backend.imports.values import (
    Notes,
    first_text,
    identifier,
    mapping,
    name,
    objects,
    sequence,
    text,
)
from backend.types import JSON

NAME = "langgraph"
LABEL = "LangGraph"
_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
# Blocks that repeat what `tool_calls` has.
_CALLS = ("tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk")


def looks_like(upload: Upload) -> bool:
    """Return whether the file was written from checkpoints."""
    return not upload.is_archive and upload.head(upload.entries[0].name, 100).startswith(
        HEAD.encode()
    )


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield a conversation for each thread."""
    lines = upload.lines(upload.entries[0].name, LONGEST_ITEM)
    next(lines)
    for number, line in enumerate(lines, 1):
        value = parse(line) if line is not None else None
        if isinstance(value, Unreadable) or not isinstance(value, dict):
            yield Skipped(f"thread {number}", "", "It is too long, or was not written to its end.")
        elif value.get("error"):
            yield Skipped(identifier(value.get("thread_id")) or "?", "", text(value["error"]))
        else:
            yield _conversation(value)


def _conversation(thread: JSON) -> ImportedConversation | Skipped:
    notes = Notes()
    if thread.get("inside"):
        number = text(thread["inside"])
        notes.say(f"{number} graphs inside of this one have states of their own, left out.")
    for other in sequence(thread.get("others")):
        notes.say(f"The messages of the channel {name(other)!r} were left out.")
    source_id = identifier(thread.get("thread_id")) or "?"
    joined = _Joined(objects(thread.get("checkpoints")), notes)
    messages, current = joined.builder.finish(joined.last)
    if not messages:
        return Skipped(source_id, "", "It has no messages.")
    times = [at for message in messages if (at := message.created_at)]
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title="",
        messages=messages,
        current=current,
        created_at=min(times, default=None),
        updated_at=max(times, default=None),
        model=next((one.model for one in reversed(messages) if one.model), None),
        notes=notes.sentences(),
    )


class _Way:
    """The messages up to a checkpoint: the key of each in the tree, by its id, in order.

    Checkpoints without a fork between them share one.
    """

    def __init__(self, keys: dict[str, str] | None = None) -> None:
        self.keys = dict(keys or {})
        self.own: set[str] = set()  # keys that no other branch has


class _Joined:
    """Joins the messages of checkpoints, which come in the order of their ids, that is, of time."""

    def __init__(self, checkpoints: list[JSON], notes: Notes) -> None:
        self.builder = Builder(notes)
        self.last: str | None = None
        self._notes = notes
        self._forms: dict[str, tuple[str | None, JSON, Any]] = {}  # parent, message, time; by key
        ways: dict[str | None, _Way] = {}
        children = Counter(identifier(one.get("parent")) for one in checkpoints)
        for checkpoint in checkpoints:
            parent = identifier(checkpoint.get("parent"))
            way = ways.get(parent)
            if way is None:
                way = _Way()  # the first one, or those before it were deleted
            elif children[parent] > 1:
                way = _Way(way.keys)
            ways[identifier(checkpoint.get("id"))] = way
            if checkpoint.get("late"):
                notes.say("A run was interrupted; its last messages have no checkpoint.")
            for message in objects(checkpoint.get("added")):
                self._take(way, message, checkpoint)
            self.last = next(reversed(way.keys.values()), self.last)
        for key, (parent, message, at) in self._forms.items():
            self._add(key, parent, message, at)

    def _take(self, way: _Way, message: JSON, checkpoint: JSON) -> None:
        """Put a message at the end of a way, or in the place of its earlier form."""
        if message.get("is_summary"):
            self._notes.say("A summary was left out, because the messages it replaced are here.")
            return
        own = identifier(message.get("id")) or "?"
        key = way.keys.get(own)
        if key is None:
            self._put(
                way, own, next(reversed(way.keys.values()), None), message, checkpoint.get("at")
            )
        elif key in way.own:
            self._notes.say("A message was changed later; its last form is kept.")
            parent, _, at = self._forms[key]
            self._forms[key] = (parent, message, at)
        else:
            self._branch(way, own, message, checkpoint.get("at"))

    def _branch(self, way: _Way, own: str, message: JSON, at: Any) -> None:
        """Begin a branch at a message that a fork has changed; what follows it there is copied."""
        place = list(way.keys).index(own)
        following = list(way.keys.items())[place + 1 :]
        parent = self._forms[way.keys[own]][0]
        parent = self._put(way, own, parent, message, at)
        for other, key in following:
            _, copied, then = self._forms[key]
            parent = self._put(way, other, parent, copied, then)

    def _put(self, way: _Way, own: str, parent: str | None, message: JSON, at: Any) -> str:
        key, number = own, 1
        while key in self._forms:
            number += 1
            key = f"{own}~{number}"
        self._forms[key] = (parent, message, at)
        way.keys[own] = key
        way.own.add(key)
        return key

    def _add(self, key: str, parent: str | None, message: JSON, at: Any) -> None:
        kind = text(message.get("type")) or text(message.get("role"))
        role = _ROLES.get(kind) or _ROLES.get(text(message.get("role")), "assistant")
        parts: list[Part] = []
        if thought := text(message.get("thinking")):
            parts.append(Thinking(thought))
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            parts += self._block(block if isinstance(block, dict) else {"text": block})
        called = name(message.get("name"))
        if role == "tool":
            said = "".join(part.text for part in parts if isinstance(part, Text))
            files = [part for part in parts if isinstance(part, Attachment)]
            call_id = identifier(message.get("tool_call_id")) or ""
            parts = [Result(call_id, called, said, message.get("status") == "error"), *files]
        for call in objects(message.get("tool_calls")):
            call_id = identifier(call.get("id")) or ""
            parts.append(Call(call_id, name(call.get("name")), call.get("args", {})))
        author = called if role == "assistant" else None
        self.builder.add(key, parent, role, parts, at=at, author=author, model=message.get("model"))

    def _block(self, block: JSON) -> list[Part]:
        kind = text(block.get("type")) or "text"
        if kind in _CALLS:
            return []
        if kind in ("thinking", "reasoning"):
            summaries = [text(one.get("text")) for one in objects(block.get("summary"))]
            return [Thinking(first_text(block, kind, "text") or "\n\n".join(summaries))]
        if kind in ("image_url", "image", "audio", "video", "file", "input_audio"):
            return [_file(kind, block)]
        found = first_text(block, "text", "refusal")
        if kind not in ("text", "output_text", "input_text", "refusal"):
            what = "its text was kept" if found else "it was left out"
            self._notes.say(f"A block is of the unknown kind {name(kind)!r}; {what}.")
        return [Text(found)]


def _file(kind: str, block: JSON) -> Attachment:
    """Return a file, of which the state has the content or an address."""
    inside = mapping(block.get(kind)) or mapping(block.get("source")) or block
    url = text(block.get(kind)) or first_text(inside, "url")
    media_type = (
        name(first_text(inside, "mime_type", "media_type")) or f"{kind.partition('_')[0]}/*"
    )
    data = first_text(inside, "base64", "data")
    if data and not url:
        url = f"data:{media_type};base64,{data}"
    called = name(first_text(inside, "filename", "name")) or name(block.get("id"))
    if url.startswith("data:"):
        return Attachment(called or kind, name(url[5:100].partition(";")[0]), url)
    return Attachment(called or name(url) or kind, media_type, None)
