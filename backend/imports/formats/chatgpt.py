"""ChatGPT's export: `conversations.json` or numbered parts of it, and files beside them.

The shape is in docs/imports.md. A conversation is a tree of nodes; a turn has several of them, such
as thoughts, a call, its output and the answer.
"""

import re
from collections.abc import Iterator
from typing import Any

from backend.imports.builder import Builder
from backend.imports.errors import ImportRefused
from backend.imports.formats.chatgpt_assets import NAMES, Assets
from backend.imports.json_stream import read_json
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
from backend.text import counted
from backend.types import JSON

NAME = "chatgpt"
LABEL = "ChatGPT"
_MANIFEST = "export_manifest.json"
_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
# Marks around the places of sources: `cite`, `filecite`, `entity` and others.
_MARKED = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201")


def looks_like(upload: Upload) -> bool:
    """Return whether a JSON file begins with a conversation that has a mapping of nodes."""
    return has_some(upload, _begins)


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the conversations of all parts."""
    assets = Assets(upload)
    entries = list(entries_of(upload, _begins, (_MANIFEST, NAMES)))
    yield from _missing_parts(upload)
    for entry in sorted(entries, key=_number):
        for item in objects_of(upload, entry):
            yield item if isinstance(item, Skipped) else _conversation(item, assets)
    if spare := assets.unused():
        upload.notes.append(f"Left out, because no message has them: {counted(spare, 'file')}.")


def _begins(_: Entry, head: bytes) -> bool:
    return head[:1] in (b"[", b"{") and b'"mapping"' in head and b'"chat_messages"' not in head


def _number(entry: Entry) -> tuple[int, str]:
    found = re.search(r"-(\d{1,9})\.json$", entry.base)
    return int(found[1]) if found else -1, entry.name


def _missing_parts(upload: Upload) -> Iterator[Skipped]:
    """Say which files of conversations the manifest lists and the upload lacks."""
    manifest = upload.find(_MANIFEST)
    if manifest is None:
        return
    try:
        listed = mapping(mapping(read_json(upload, manifest.name)).get("logical_files"))
    except ImportRefused:
        upload.notes.append("The manifest is not readable; the files were found by their names.")
        return
    present = {entry.base for entry in upload.entries}
    for file in sequence(mapping(listed.get("conversations.json")).get("files")):
        base = text(file).rpartition("/")[2]
        if base and base not in present:
            yield Skipped(base[:200], "", "The manifest lists this file, and the upload lacks it.")


def _conversation(item: JSON, assets: Assets) -> ImportedConversation | Skipped:
    source_id = identifier(item.get("conversation_id")) or identifier(item.get("id"))
    source_id = source_id or digest(item)
    title = name(item.get("title"))
    nodes = mapping(item.get("mapping"))
    notes = Notes()
    reader = _Nodes(nodes, assets, notes)
    messages, current = reader.read(item.get("current_node"))
    if not messages:
        return Skipped(source_id, title, "It has no messages.")
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title=title,
        messages=messages,
        current=current,
        created_at=moment(item.get("create_time")),
        updated_at=moment(item.get("update_time")),
        model=name(item.get("default_model_slug")) or None,
        notes=notes.sentences(),
    )


class _Nodes:
    """Reads the nodes of one conversation."""

    def __init__(self, nodes: JSON, assets: Assets, notes: Notes) -> None:
        self._nodes = nodes
        self._assets = assets
        self._notes = notes
        self._builder = Builder(notes)

    def read(self, current: Any) -> Any:
        # Some exports have only the one, some only the other direction.
        parents = {
            child: key
            for key, node in self._nodes.items()
            for child in map(identifier, sequence(mapping(node).get("children")))
            if child is not None
        }
        for key, node in self._nodes.items():
            if not isinstance(node, dict):
                self._notes.say("A node that is no object was left out.")
                node = {}
            own = identifier(key) or "?"
            parent = identifier(node.get("parent"))
            self._add(own, parent or parents.get(own), mapping(node.get("message")))
        return self._builder.finish(current)

    def _add(self, key: str, parent: str | None, message: JSON) -> None:
        author = mapping(message.get("author"))
        role = _ROLES.get(text(author.get("role")), "assistant")
        metadata = mapping(message.get("metadata"))
        content = message.get("content")
        if not isinstance(content, dict):
            content = {"content_type": "text", "parts": [content]} if content else {}
        kind = text(content.get("content_type")) or "text"
        parts: list[Part] = []
        if kind == "user_editable_context":
            role = "system"
            parts = _instructions(content)
        elif metadata.get("is_visually_hidden_from_conversation") is True:
            hidden = self._content(kind, content, metadata)
            if any(not isinstance(part, Text) or part.text.strip() for part in hidden):
                self._notes.say("A message that ChatGPT hides was left out.")
        elif message:
            parts = self._parts(role, kind, message, content, metadata)
        self._builder.add(
            key,
            parent,
            role,
            parts,
            at=message.get("create_time"),
            author=author.get("name"),
            model=metadata.get("model_slug"),
        )

    def _parts(
        self, role: Role, kind: str, message: JSON, content: JSON, metadata: JSON
    ) -> list[Part]:
        """Return the parts of a message by who speaks, and to whom."""
        parts = self._content(kind, content, metadata)
        said = "\n\n".join(part.text for part in parts if isinstance(part, Text))
        thoughts: list[Part] = [part for part in parts if isinstance(part, Thinking)]
        pointed = [part for part in parts if isinstance(part, Attachment)]
        files = list(dict.fromkeys([*pointed, *self._assets.attached(metadata)]))
        if role == "tool":
            tool = name(mapping(message.get("author")).get("name")) or "tool"
            failed = kind == "system_error" or text(message.get("status")) == "finished_error"
            return [Result("", tool, said, is_error=failed), *files] if said or files else []
        recipient = name(message.get("recipient")) or "all"
        if role == "assistant" and recipient != "all" and said:
            asked = arguments(said)
            if not isinstance(asked, dict):
                asked = {"code" if kind == "code" else "input": said}
            return [*thoughts, Call("", recipient, asked), *files]
        if kind == "code" and said:
            said = f"```{name(content.get('language')).replace('unknown', '')}\n{said}\n```"
        return [*thoughts, Text(said), *files]

    def _content(self, kind: str, content: JSON, metadata: JSON) -> list[Part]:
        """Return what a message holds, by the kind of its content."""
        if kind in ("text", "multimodal_text"):
            return self._pieces(sequence(content.get("parts")) or [content.get("text")], metadata)
        if kind == "thoughts":
            return [
                Thinking("\n\n".join(filter(None, map(written, _thought(one)))))
                for one in objects(content.get("thoughts"))
            ]
        if kind == "reasoning_recap":
            return [Thinking(first_text(content, "content", "text"))]
        if kind in ("tether_quote", "sonic_webpage"):
            title, url = first_text(content, "title", "domain"), text(content.get("url"))
            return [Text("\n\n".join(filter(None, (title, url, text(content.get("text"))))))]
        if kind in ("code", "execution_output", "tether_browsing_display", "system_error"):
            return [Text(first_text(content, "text", "result", "summary"))]
        found = first_text(content, "text", "result", "content", "summary")
        what = "its text was kept" if found else "it was left out"
        self._notes.say(f"A message is of the unknown kind {name(kind)!r}; {what}.")
        return [Text(found), *self._pieces(sequence(content.get("parts")), metadata)]

    def _pieces(self, pieces: list[Any], metadata: JSON) -> list[Part]:
        """Return the parts of a text with pictures and sounds."""
        parts: list[Part] = []
        for piece in pieces:
            if not isinstance(piece, dict):
                parts.append(Text(self._cited(text(piece), metadata)))
                continue
            kind = text(piece.get("content_type"))
            found = self._assets.pointed(piece, metadata)
            parts += found
            if said := first_text(piece, "text", "result"):
                parts.append(Text(said))
            elif not found:
                self._notes.say(f"A part of the unknown kind {name(kind)!r} was left out.")
        return parts

    def _cited(self, said: str, metadata: JSON) -> str:
        """Return a text with links in place of marks that only ChatGPT understands."""
        if "\ue200" not in said:
            return said
        shown: dict[str, str] = {}
        for reference in objects(metadata.get("content_references"))[:1_000]:
            mark = text(reference.get("matched_text"))
            url, title = text(reference.get("url")), name(reference.get("title"))
            link = f"([{title or url}]({url}))" if url.startswith(("https://", "http://")) else ""
            shown[mark] = text(reference.get("alt")) or link

        def replaced(match: re.Match[str]) -> str:
            if not shown.get(match[0]):
                self._notes.say(
                    "The mark of a source, which the export does not name, was removed."
                )
            return shown.get(match[0], "")

        return _MARKED.sub(replaced, said)


def _thought(thought: JSON) -> tuple[Any, Any]:
    summary, content = thought.get("summary"), thought.get("content")
    return summary, content or "\n".join(map(text, sequence(thought.get("chunks"))))


def _instructions(content: JSON) -> list[Part]:
    """Return what the person told ChatGPT about themselves and how to answer."""
    said = (text(content.get("user_profile")), text(content.get("user_instructions")))
    return [Text("\n\n".join(filter(None, said)))]
