"""Copies a session's files to another session, so that a continued session can query them."""

from contextlib import suppress
from uuid import UUID

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.files import rows
from backend.files.store import FileStore


def copy_all(
    session: Session, scope: Scope, store: FileStore, from_id: UUID, to_id: UUID, megabytes: int
) -> None:
    """Copy them, with how they were read; `megabytes` is the limit per person.

    Raise NoRoomForFiles.
    """
    for old, new in rows.copy_all(session, scope, from_id, to_id, megabytes):
        with suppress(FileNotFoundError):  # its content is gone: the copy reports that, too
            store.copy(old, new)
