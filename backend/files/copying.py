"""Gives a session the files of another: what is continued as new can be asked as before."""

from contextlib import suppress
from uuid import UUID

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.files import rows
from backend.files.store import FileStore


def copy_all(
    session: Session, scope: Scope, store: FileStore, from_id: UUID, to_id: UUID, megabytes: int
) -> None:
    """Copy them, as they were read; `megabytes` is what one person may have.

    Raise NoRoomForFiles.
    """
    for old, new in rows.copy_all(session, scope, from_id, to_id, megabytes):
        with suppress(FileNotFoundError):  # its content is gone: the copy says so, too
            store.copy(old, new)
