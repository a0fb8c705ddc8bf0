"""Checks of uploaded files: each row has its bytes, and no bytes are without a row."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from uuid import UUID

from sqlalchemy import select

from backend.files.erasing import erase_deleted
from backend.files.store import FileStore
from db.models.file import ErasedFileRow, FileRow
from db.session import Database

BATCH = 500
SETTLED_SECONDS = 3_600  # newer content may not have its row yet


class FileRepair(StrEnum):
    """The repair proposed for a finding."""

    ERASE = "erase the content that nobody can ask for"
    NONE = "restore the content from a backup, or delete the file"


@dataclass(frozen=True)
class FileFinding:
    """An inconsistency, in words, and the repair proposed for it."""

    file_id: UUID
    problem: str
    repair: FileRepair


def check_files(database: Database, store: FileStore) -> Iterator[FileFinding]:
    """Yield what is wrong with files."""
    yield from _without_content(database, store)
    yield from _without_row(database, store)


def repair_file(database: Database, store: FileStore, finding: FileFinding) -> bool:
    """Repair what can be repaired; return whether the finding is settled."""
    if finding.repair is not FileRepair.ERASE:
        return False
    erase_deleted(database, store)
    store.erase(finding.file_id)
    return True


def _without_content(database: Database, store: FileStore) -> Iterator[FileFinding]:
    last: UUID | None = None
    while True:
        query = select(FileRow.id, FileRow.size).order_by(FileRow.id).limit(BATCH)
        with database.read() as session:
            found = session.execute(query if last is None else query.where(FileRow.id > last)).all()
        for file_id, size in found:
            held = store.size(file_id)
            if held is None:
                yield FileFinding(file_id, "its content is gone", FileRepair.NONE)
                continue
            if held != size:
                problem = f"its content has {held:,} bytes and should have {size:,}"
                yield FileFinding(file_id, problem, FileRepair.NONE)
        if len(found) < BATCH:
            return
        last = found[-1].id


def _without_row(database: Database, store: FileStore) -> Iterator[FileFinding]:
    settled = store.ids(SETTLED_SECONDS)
    while some := list(islice(settled, BATCH)):
        with database.read() as session:
            known = set(session.scalars(select(FileRow.id).where(FileRow.id.in_(some))))
            known |= set(
                session.scalars(select(ErasedFileRow.id).where(ErasedFileRow.id.in_(some)))
            )
        for file_id in some:
            if file_id not in known:
                problem = "this content belongs to no file"
                yield FileFinding(file_id, problem, FileRepair.ERASE)
