"""Erases contents in the store whose versions are gone, mostly with their session."""

import logging

from sqlalchemy import delete, select

from backend.errors.artifacts import ArtifactStoreUnavailable
from backend.storage.stores import Store
from db.models.artifacts.artifact import ErasedContentRow
from db.session import Database

BATCH = 20
log = logging.getLogger(__name__)


def erase_deleted(database: Database, store: Store) -> int:
    """Erase deleted contents and return how many; failures are retried by the next call."""
    erased = 0
    while True:
        with database.read() as session:
            keys = list(session.scalars(select(ErasedContentRow.key).limit(BATCH)))
        # Outside a transaction: a bucket may be slow, and erasing twice does no harm.
        try:
            store.erase(keys)
        except (ArtifactStoreUnavailable, OSError) as error:
            log.warning("Deleted contents of artifacts cannot be erased now: %s", error)
            return erased
        if keys:
            with database.transaction() as session:
                session.execute(delete(ErasedContentRow).where(ErasedContentRow.key.in_(keys)))
        erased += len(keys)
        if len(keys) < BATCH:
            return erased
