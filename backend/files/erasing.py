"""Erases the bytes of files whose rows are gone, deleted alone or with their session."""

import logging

from sqlalchemy import delete, select

from backend.errors.files import FileStoreUnavailable
from backend.files.store import FileStore
from db.models.file import ErasedFileRow, FileRow
from db.session import Database

BATCH = 100
log = logging.getLogger(__name__)


def erase_deleted(database: Database, store: FileStore) -> int:
    """Erase deleted files and return how many; failures are retried by the next call."""
    erased = 0
    while True:
        with database.read() as session:
            ids = list(session.scalars(select(ErasedFileRow.id).limit(BATCH)))
        # Outside a transaction: a bucket may be slow, and erasing twice does no harm.
        try:
            for file_id in ids:
                store.erase(file_id)
        except FileStoreUnavailable as error:
            log.warning("Deleted files cannot be erased now: %s", error)
            return erased
        if ids:
            with database.transaction() as session:
                session.execute(delete(ErasedFileRow).where(ErasedFileRow.id.in_(ids)))
        erased += len(ids)
        if len(ids) < BATCH:
            return erased


def erase_copies(database: Database, store: FileStore) -> None:
    """Erase this host's copies of files that were deleted, maybe on another host."""
    ids = store.copies()
    for first in range(0, len(ids), BATCH):
        some = ids[first : first + BATCH]
        with database.read() as session:
            kept = set(session.scalars(select(FileRow.id).where(FileRow.id.in_(some))))
        for file_id in some:
            if file_id not in kept:
                store.erase_copy(file_id)
