"""Erases the bytes of files whose rows are gone, deleted alone or with their session."""

from sqlalchemy import delete, select

from backend.files.store import FileStore
from db.models.file import ErasedFileRow
from db.session import Database

BATCH = 100


def erase_deleted(database: Database, store: FileStore) -> int:
    """Erase deleted files and return how many; failures are retried by the next call."""
    erased = 0
    while True:
        with database.transaction() as session:
            ids = list(
                session.scalars(
                    select(ErasedFileRow.id).limit(BATCH).with_for_update(skip_locked=True)
                )
            )
            for file_id in ids:
                store.erase(file_id)
            session.execute(delete(ErasedFileRow).where(ErasedFileRow.id.in_(ids)))
        erased += len(ids)
        if len(ids) < BATCH:
            return erased
