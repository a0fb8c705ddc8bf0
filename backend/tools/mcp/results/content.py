"""Converting a tool server's result into text for the model and content for people: pure rules.

Text passes unchanged, except for pictures and files encoded in it. What a model cannot read is
described to it in a line; people get the content itself from our own store: nothing is ever
fetched from an address in a result.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from backend.tools.mcp.results.media import text_without_media, without_media
from backend.types import JSON
from colloquy_kit.messages.parts import has_too_many_parts

MAX_BYTES = 5_000_000
MAX_ALL_BYTES = 12_000_000
MAX_ATTACHMENTS = 20
MAX_STRUCTURED_CHARS = 50_000
MAX_ENCODED_TEXT = 26_000  # of base64: 19,500 bytes; a longer text is a file for people
MAX_NAME_CHARS = 200
MAX_LINKS = 20
MAX_URI_CHARS = 2_000
_WRAPPERS = ("result", "content")  # names under which servers repeat a whole result
_LOST = {
    "image": "you cannot see it",
    "audio": "you cannot hear it",
    "file": "you cannot read it",
}


@dataclass(frozen=True)
class Content:
    """A result: what the model reads, and what else people see."""

    text: str
    artifact: JSON | None


def read_result(result: CallToolResult) -> Content:
    """Return the result's text, attachments and structured content."""
    kept = _Attachments()
    lines = [_line(block, kept) for block in result.content]
    text = "\n".join(lines)
    structured = _own_part(result, text, kept)
    if structured and not any(map(_is_text, result.content)):
        # Otherwise the model would not see it.
        text = "\n".join([*lines, json.dumps(structured, ensure_ascii=False)])
    if structured and len(written := json.dumps(structured)) > MAX_STRUCTURED_CHARS:
        kept.add("file", "result.json", "application/json", written.encode())
        structured = None
    links = [_address(block) for block in result.content if isinstance(block, ResourceLink)]
    if not structured and not kept.all and not links:
        return Content(text, None)
    artifact = {"kind": "content", "structured": structured, "attachments": kept.all}
    return Content(text, artifact | ({"links": links[:MAX_LINKS]} if links else {}))


def without_misfit(result: CallToolResult, misfit: str) -> CallToolResult:
    """Return the result with its text, and a line that says what its structured content lacks.

    Without any text, that content is the text.
    """
    blocks = list(result.content)
    if result.structuredContent and not any(map(_is_text, blocks)):
        written = json.dumps(result.structuredContent, ensure_ascii=False)
        blocks.append(TextContent(type="text", text=written))
    blocks.append(TextContent(type="text", text=f"[The structured part of this result {misfit}.]"))
    return result.model_copy(update={"content": blocks, "structuredContent": None})


class _Attachments:
    """A result's attachments, within limits."""

    def __init__(self) -> None:
        self.all: list[JSON] = []
        self._size = 0
        self._said: dict[str, str] = {}

    def take(self, kind: str, name: str, mime_type: str | None, data: str) -> str:
        """Keep base64 data; return the line that describes it to the model."""
        self._said[data] = self._take(kind, name, mime_type, data)
        return self._said[data]

    def take_encoded(self, mime_type: str, data: str) -> str:
        """Keep data embedded in text or JSON, once; return the line that replaces it."""
        data = "".join(data.split())
        return self._said.get(data) or self.take(_kind(mime_type), "", mime_type, data)

    def _take(self, kind: str, name: str, mime_type: str | None, data: str) -> str:
        mime_type = (mime_type or "application/octet-stream")[:MAX_NAME_CHARS]
        head = " ".join(filter(None, (kind, name[:MAX_NAME_CHARS], mime_type)))
        if len(data) > 2 * MAX_ALL_BYTES:
            return f"[{head}: too large to be kept]"
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            return f"[{head}: it cannot be read]"
        if not self.add(kind, name, mime_type, raw):
            return f"[{head}, {_size(len(raw))}: too large to be kept]"
        return f"[{head}, {_size(len(raw))}: shown to people, {_LOST[kind]}]"

    def add(self, kind: str, name: str, mime_type: str, raw: bytes) -> bool:
        """Keep it if it fits the limits; return whether it was kept."""
        too_many = len(self.all) >= MAX_ATTACHMENTS
        if too_many or len(raw) > MAX_BYTES or self._size + len(raw) > MAX_ALL_BYTES:
            return False
        self._size += len(raw)
        self.all.append(
            {
                "kind": kind,
                "name": name[:MAX_NAME_CHARS],
                "mime_type": mime_type,
                "bytes": len(raw),
                "data": base64.b64encode(raw).decode(),
            }
        )
        return True


def _line(block: ContentBlock, kept: _Attachments) -> str:
    """Return the block as the model reads it; what only people see goes to `kept`."""
    if isinstance(block, TextContent):
        return text_without_media(block.text, kept.take_encoded)
    if isinstance(block, ImageContent):
        return kept.take("image", "", block.mimeType, block.data)
    if isinstance(block, AudioContent):
        return kept.take("audio", "", block.mimeType, block.data)
    if isinstance(block, ResourceLink):
        return _link(block)
    if isinstance(block, EmbeddedResource):
        return _resource(block, kept)
    return f"[{getattr(block, 'type', 'something')}: of an unknown kind]"


def _resource(block: EmbeddedResource, kept: _Attachments) -> str:
    resource = block.resource
    if (text := _text_of(block)) is not None:
        return text_without_media(text, kept.take_encoded)
    if isinstance(resource, BlobResourceContents):
        name = str(resource.uri).rstrip("/").rpartition("/")[2]
        return kept.take(_kind(resource.mimeType), name, resource.mimeType, resource.blob)
    return "[resource: of an unknown kind]"


def _link(block: ResourceLink) -> str:
    mime_type = f" ({block.mimeType})" if block.mimeType else ""
    about = f": {block.description}" if block.description else ""
    return f"[link {block.name} {block.uri}{mime_type}{about}]"


def _address(block: ResourceLink) -> JSON:
    """Return the link as people see it; a truncated address would lead elsewhere."""
    uri = str(block.uri)
    return {
        "name": block.name[:MAX_NAME_CHARS],
        "uri": uri if len(uri) <= MAX_URI_CHARS else "",
        "mime_type": (block.mimeType or "")[:MAX_NAME_CHARS],
    }


def _kind(mime_type: str | None) -> str:
    kind = (mime_type or "").partition("/")[0]
    return kind if kind in ("image", "audio") else "file"


def _is_text(block: ContentBlock) -> bool:
    if isinstance(block, EmbeddedResource):
        return _text_of(block) is not None
    return isinstance(block, TextContent)


def _text_of(block: EmbeddedResource) -> str | None:
    """Return a resource's text, also a short one that was sent as bytes; None if it has none."""
    resource = block.resource
    if isinstance(resource, TextResourceContents):
        return resource.text
    is_text = (resource.mimeType or "").startswith("text/")
    if is_text and len(resource.blob) <= MAX_ENCODED_TEXT:
        with suppress(ValueError):
            return base64.b64decode(resource.blob, validate=True).decode()
    return None


def _own_part(result: CallToolResult, text: str, kept: _Attachments) -> JSON | None:
    """Return the structured content without media; None if it only repeats the rest."""
    structured = result.structuredContent
    if not structured or _repeats_blocks(structured, result.content):
        return None
    readable: JSON = without_media(structured, kept.take_encoded)
    return None if _repeats(readable, text) else readable


def _repeats_blocks(structured: JSON, blocks: Sequence[ContentBlock]) -> bool:
    """Return whether it is the blocks as JSON, as frameworks send that treat any result as data."""
    value = _wrapped(structured)
    given = value if isinstance(value, list) else [value]
    if len(given) != len(blocks):
        return False
    dumped = (block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in blocks)
    return all(
        isinstance(one, dict) and {k: v for k, v in one.items() if v is not None} == block
        for one, block in zip(given, dumped, strict=True)
    )


def _repeats(structured: JSON, text: str) -> bool:
    """Return whether it only repeats the text, as servers do for clients that read just one."""
    if _wrapped(structured) == text:
        return True
    if has_too_many_parts(text):
        return False
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(structured == parsed or structured in ({name: parsed} for name in _WRAPPERS))


def _wrapped(structured: JSON) -> Any:
    """Return the value of its only field if that has a name which says nothing; otherwise None."""
    return next((structured[name] for name in _WRAPPERS if list(structured) == [name]), None)


def _size(count: int) -> str:
    for unit, size in (("MB", 1_000_000), ("KB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
