"""The files of a ChatGPT export, and the pointers of messages to them.

A file is named by its id, as `file-ABC.dat` or `file-ABC-photo.png`, also in folders such as
`dalle-generations` or `user-…`; `conversation_asset_file_names.json` has the names people gave.
"""

import mimetypes
import re
from typing import Any

from backend.imports.errors import ImportRefused
from backend.imports.json_stream import read_json
from backend.imports.model import Attachment
from backend.imports.upload import Upload
from backend.imports.values import first_text, mapping, name, objects, text
from backend.types import JSON

NAMES = "conversation_asset_file_names.json"
_ID = re.compile(r"file[-_][A-Za-z0-9]+")
_POINTERS = ("audio_asset_pointer", "video_container_asset_pointer", "frames_asset_pointers")


class Assets:
    """The files of an upload, by their ids."""

    def __init__(self, upload: Upload) -> None:
        self._entries: dict[str, str] = {}
        self._used: set[str] = set()
        for entry in upload.entries:
            if (found := _ID.match(entry.base)) is not None:
                self._entries.setdefault(found[0], entry.name)
        self._names = self._read_names(upload)

    def unused(self) -> int:
        """Return how many files no message has pointed to."""
        return len(self._entries.keys() - self._used)

    def pointed(self, piece: JSON, metadata: JSON) -> list[Attachment]:
        """Return the files that a part of a message points to."""
        pointers: list[Any] = [piece.get("asset_pointer")]
        for key in _POINTERS:
            value = piece.get(key)
            several = value if isinstance(value, list) else [value]
            pointers += [
                one.get("asset_pointer") if isinstance(one, dict) else one for one in several
            ]
        kind = text(piece.get("content_type"))
        rough = "image/*" if "image" in kind else "audio/*" if "audio" in kind else ""
        found = [self._file(pointer, "", rough) for pointer in map(text, pointers) if pointer]
        attached = {file.where or file.name: file for file in self.attached(metadata)}
        return [attached.get(file.where or file.name, file) for file in found]

    def attached(self, metadata: JSON) -> list[Attachment]:
        """Return the files attached to a message."""
        return [
            self._file(
                text(file.get("id")),
                name(file.get("name")),
                name(first_text(file, "mime_type", "mimeType")),
            )
            for file in objects(metadata.get("attachments"))
        ]

    def _file(self, pointer: str, called: str, media_type: str) -> Attachment:
        found = _ID.search(pointer.rpartition("://")[2])
        key = found[0] if found else name(pointer)
        self._used.add(key)
        entry = self._entries.get(key)
        if not called:
            called = self._names.get(key, "")
        if not called and entry is not None:
            rest = entry.rpartition("/")[2].removeprefix(key).removesuffix(".dat").lstrip("-_")
            called = key + rest if rest[:1] in ("", ".") else rest
        called = called or key
        if media_type in ("", "image/*", "audio/*"):
            media_type = mimetypes.guess_type(called)[0] or media_type
        return Attachment(called, media_type or "application/octet-stream", entry)

    def _read_names(self, upload: Upload) -> dict[str, str]:
        listed = upload.find(NAMES)
        if listed is None:
            return {}
        try:
            names = mapping(read_json(upload, listed.name))
        except ImportRefused:
            upload.notes.append("The list of the files' names is not readable.")
            return {}
        return {
            found[0]: name(called).rpartition("/")[2]
            for file, called in names.items()
            if (found := _ID.match(file.rpartition("/")[2])) is not None
        }
