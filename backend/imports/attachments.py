"""Attachments of imported messages: files that can be queried, or pictures and downloads."""

import base64
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.data.files.formats import Format, find_format
from backend.errors.base import AppError
from backend.files import rows as file_rows
from backend.files.store import FileStore
from backend.imports.model import Attachment
from backend.schemas.data.files import FileKind, IfExists
from backend.types import JSON

MOST_SHOWN_BYTES = 10_000_000  # of one attachment that is kept with its message
MOST_OF_CONVERSATION = 200_000_000
_HEAD = 4_096
_PIECE = 1 << 20
_QUERIED = frozenset(Format) - {Format.GZIP}


@dataclass
class Attachments:
    """Where the bytes of attachments are, by what names them, and where they go.

    `megabytes`: the limit of a person's files; `taken`: names of sources that files cannot have.
    """

    store: FileStore
    megabytes: int
    paths: Mapping[str, Path] = field(default_factory=dict)
    taken: Callable[[], Collection[str]] = frozenset
    kept: list[UUID] = field(default_factory=list)  # files in the store, so far

    def add(
        self,
        session: Session,
        scope: Scope,
        conversation_id: UUID,
        named: Mapping[int, Attachment],
        rows: list[JSON],
        notes: list[str],
    ) -> Iterator[JSON]:
        """Add the attachments of a conversation; yield the results to be stored with its messages.

        A table or document becomes a file of the session, which its agents can query; anything
        else stays with its message. The rows are told, and `notes` what was not kept.
        """
        left = MOST_OF_CONVERSATION
        for position, file in named.items():
            row = rows[position - 1]
            path = self.paths.get(file.where or "")
            if path is None:
                notes.append(f"{file.name[:200]} is missing in the export.")
                continue
            size = path.stat().st_size
            row["content"] = {**row["content"], "bytes": size}
            if self._add_file(session, scope, conversation_id, file, path, notes):
                continue
            if size > MOST_SHOWN_BYTES or size > left:
                notes.append(f"{file.name[:200]} was not kept: it has {size / 1e6:,.0f} MB.")
                continue
            left -= size
            result_id = uuid4()
            row["metadata"] = {**row["metadata"], "result_id": str(result_id)}
            encoded = base64.b64encode(path.read_bytes()).decode()
            kind = "image" if file.media_type.startswith("image/") else "file"
            described = {"kind": kind, **row["content"], "data": encoded}
            yield {"id": result_id, "result": described}

    def undo(self) -> None:
        """Remove the files whose transaction failed."""
        for file_id in self.kept:
            self.store.erase(file_id)
        self.kept.clear()

    def _add_file(
        self,
        session: Session,
        scope: Scope,
        conversation_id: UUID,
        file: Attachment,
        path: Path,
        notes: list[str],
    ) -> bool:
        """Add a file that agents can query; return whether it is one, and there is room for it."""
        if file.media_type.startswith(("image/", "audio/", "video/")):
            return False
        incoming = self.store.begin()
        file_id = file_rows.new_id()
        try:
            with path.open("rb") as bytes_of:
                while piece := bytes_of.read(_PIECE):
                    incoming.write(piece)
            found = find_format(incoming.head[:_HEAD], file.name)
            if not isinstance(found, Format) or found not in _QUERIED or not incoming.size:
                return False
            kind = FileKind.DOCUMENT if found in (Format.PDF, Format.DOCUMENT) else FileKind.TABLE
            new = file_rows.NewFile(
                file_rows.clean_name(file.name[-120:]),
                incoming.size,
                incoming.sha256,
                found,
                kind,
                conversation_id,
            )
            incoming.seal(file_id)
            self.kept.append(file_id)
            with session.begin_nested():
                file_rows.add(
                    session,
                    scope,
                    file_id,
                    new,
                    most_megabytes=self.megabytes,
                    taken=self.taken(),
                    if_exists=IfExists.ADD,
                )
            incoming.keep(file_id)
        except AppError as error:
            if file_id in self.kept:
                self.kept.remove(file_id)
                self.store.erase(file_id)
            notes.append(f"{file.name[:200]} cannot be queried: {error.detail}")
            return False
        finally:
            incoming.drop()
        return True
