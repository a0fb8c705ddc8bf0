"""Uploaded files as sources for agents, looked up during the turn."""

from collections.abc import Callable, Sequence
from uuid import UUID

from backend.auth.scope import Scope
from backend.data.corrections import Corrections
from backend.data.files.formats import Format
from backend.data.files.uploads import DOCUMENT, Upload
from backend.data.origins import Origin
from backend.files.rows import list_usable
from backend.files.store import FileStore
from db.models.file import FileRow
from db.session import Database

FILE = "file"


def origin_of(row: FileRow, store: FileStore, problem: str | None = None) -> Origin:
    """Return a file as a source."""
    upload = Upload(
        row.id.hex,
        store.path(row.id),
        row.name,
        Format(row.format),
        Corrections.of(row.corrections),
    )
    is_document = row.kind == DOCUMENT
    what = "document" if is_document else "file"
    whose = "of this session" if row.conversation_id else "of all sessions"
    return Origin(
        name=row.source,
        kind=DOCUMENT if is_document else FILE,
        description=f"The uploaded {what} “{row.name}” {whose}.",
        version=upload.version,
        upload=upload,
        problem=problem,
    )


def finder(
    database: Database, store: FileStore, scope: Scope, session_id: UUID
) -> Callable[[], Sequence[Origin]]:
    """Return a function that looks up the files a session's agents may query, at each call."""

    def find() -> Sequence[Origin]:
        with database.read() as session:
            found = list_usable(session, scope, session_id)
        return [origin_of(row, store, problem or None) for row, problem in found]

    return find
