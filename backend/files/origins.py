"""Uploaded files as sources for agents, looked up during the turn."""

from collections.abc import Callable, Sequence
from uuid import UUID

from backend.auth.scope import Scope
from backend.data.corrections import Corrections
from backend.data.errors import SourceUnusable
from backend.data.files.formats import Format
from backend.data.files.uploads import DOCUMENT, GONE, Upload
from backend.data.origins import Origin
from backend.data.source_reader import Fetch
from backend.files.rows import Usable, list_usable
from backend.files.store import FileStore
from backend.text import moment
from db.models.file import FileRow
from db.session import Database

FILE = "file"


def origin_of(
    row: FileRow, store: FileStore, problem: str | None = None, remark: str = ""
) -> Origin:
    """Return a file as a source; `remark` is to be said beside its figures."""
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
        description=f"The uploaded {what} “{row.name}” {whose}, of {moment(row.created_at)}.",
        version=upload.version,
        upload=upload,
        problem=problem,
        remark=remark,
    )


def fetcher(store: FileStore) -> Fetch:
    """Return what has an upload's bytes on this machine. It blocks.

    It raises SourceUnusable if they are gone, FileStoreUnavailable.
    """

    def fetch(upload: Upload) -> None:
        try:
            store.fetch(UUID(upload.path.name))
        except FileNotFoundError:
            raise SourceUnusable(GONE) from None

    return fetch


def finder(
    database: Database, store: FileStore, find_scope: Callable[[], Scope], session_id: UUID
) -> Callable[[], Sequence[Origin]]:
    """Return a function that looks up the files a session's agents may query, at each call.

    `find_scope` returns the scope of whoever asks. Of equal names the last one counts: what is the
    session's before what is a person's.
    """

    def find() -> Sequence[Origin]:
        scope = find_scope()
        with database.read() as session:
            found = list_usable(session, scope, session_id)
        found.sort(key=lambda one: _closeness(scope, one.file))
        return [origin_of(one.file, store, one.problem or None, _remark(one)) for one in found]

    return find


def _closeness(scope: Scope, file: FileRow) -> tuple[bool, bool]:
    return file.conversation_id is not None, file.owner_id == scope.user_id


def _remark(found: Usable) -> str:
    """Return that a file was replaced since the session began, so that its figures may differ."""
    file, before = found.file, found.file.replaced_upload_of
    if before is None or not found.is_newer:
        return ""
    return (
        f"“{file.name}” was replaced on {moment(file.created_at)}. Earlier answers of this session"
        f" are from the upload of {moment(before)}."
    )
