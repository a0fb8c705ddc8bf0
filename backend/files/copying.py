"""Copies a session's files to another session, so that a continued session can query them."""

from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.files import rows
from backend.files.store import FileStore


class Uncopied(Exception):
    """The contents of these files have to be copied before rows can name the copies."""

    def __init__(self, file_ids: Iterable[UUID]) -> None:
        super().__init__()
        self.file_ids = tuple(file_ids)


class Copies:
    """The contents of a session's files under new ids.

    Copying may take longer than a transaction may be idle, so it is done outside: `require` ends
    a transaction with Uncopied, `make` follows, and another transaction calls `add_rows`.
    """

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._new_ids: dict[UUID, UUID] = {}
        self._are_named = False

    def require(self, session: Session, scope: Scope, from_id: UUID, megabytes: int) -> None:
        """Raise Uncopied unless there is a copy of each file of a session that is locked.

        `megabytes` is the limit per person. Raise NoRoomForFiles.
        """
        found = rows.find_copied(session, scope, from_id, megabytes)
        if missing := {row.id for row in found} - self._new_ids.keys():
            raise Uncopied(missing)

    def make(self, file_ids: Iterable[UUID]) -> None:
        """Copy the contents. Raise FileStoreUnavailable."""
        for old in file_ids:
            self._new_ids[old] = rows.new_id()
            with suppress(FileNotFoundError):  # its content is gone: the copy reports that, too
                self._store.copy(old, self._new_ids[old])

    def add_rows(
        self, session: Session, scope: Scope, from_id: UUID, to_id: UUID, megabytes: int
    ) -> None:
        """Add the copies to a session, with how they were read. Raise NoRoomForFiles."""
        rows.add_copies(session, scope, from_id, to_id, megabytes, self._new_ids)
        self._are_named = True

    def erase_unnamed(self) -> None:
        """Erase what no row has been written for."""
        if not self._are_named:
            self.erase()

    def erase(self) -> None:
        """Erase all of them."""
        for new in self._new_ids.values():
            self._store.erase(new)
