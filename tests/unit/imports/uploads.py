"""Uploads for tests of readers, written as the other programs write them."""

import json
import zipfile
from pathlib import Path
from typing import Any

from backend.imports.model import (
    Attachment,
    Call,
    ImportedConversation,
    ImportedMessage,
    Result,
    Skipped,
    Text,
    Thinking,
)
from backend.imports.registry import Format, find_format
from backend.imports.upload import Upload


def upload_of(folder: Path, files: dict[str, Any]) -> Upload:
    """Return a zip of the files; what is neither bytes nor text is written as JSON."""
    path = folder / "upload"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, _written(content))
    return Upload(path, "export.zip")


def single(folder: Path, content: Any, name: str = "export.json") -> Upload:
    """Return an upload of one file that is no archive."""
    path = folder / "upload"
    written = _written(content)
    path.write_bytes(written.encode() if isinstance(written, str) else written)
    return Upload(path, name)


def _written(content: Any) -> str | bytes:
    return content if isinstance(content, str | bytes) else json.dumps(content)


def read_all(upload: Upload, module: Format) -> tuple[list[ImportedConversation], list[Skipped]]:
    """Return the conversations of an upload that is recognised as this format, and the rest."""
    assert find_format(upload) is module
    found = list(module.read(upload))
    return (
        [one for one in found if isinstance(one, ImportedConversation)],
        [one for one in found if isinstance(one, Skipped)],
    )


def branch(conversation: ImportedConversation, last: str | None = None) -> list[str]:
    """Return the messages up to one, by default the current one, in short."""
    by_id = {message.id: message for message in conversation.messages}
    at = last or conversation.current or conversation.messages[-1].id
    found: list[str] = []
    while at is not None and at in by_id:
        found.append(shown(by_id[at]))
        at = by_id[at].parent_id
    return found[::-1]


def shown(message: ImportedMessage) -> str:
    """Return a message in short: its role and its parts."""
    return f"{message.role}: " + " | ".join(map(_part, message.parts))


def _part(part: object) -> str:
    match part:
        case Text(text):
            return text
        case Thinking(text):
            return f"({text})"
        case Call(_, name, arguments):
            return f"{name}({json.dumps(arguments)})"
        case Result(_, name, text, is_error):
            return f"{name}{'!' if is_error else ''}={text}"
        case Attachment(name, media_type, where):
            return f"[{name} {media_type} {'missing' if where is None else where[:60]}]"
    raise AssertionError(part)
