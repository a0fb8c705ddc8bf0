"""Uploaded files: received, read in the sandbox, corrected, deleted."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

import anyio.to_thread
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.data.corrections import Corrections
from backend.data.errors import DataError, SourceUnusable
from backend.data.files.formats import Format, find_format
from backend.data.files.uploads import GONE, Upload
from backend.data.origins import Origin
from backend.data.source_info import SourceInfo, info_of, too_much
from backend.data.source_reader import in_background
from backend.data.sources import Sources
from backend.errors.base import InvalidInput
from backend.errors.files import FileStoreUnavailable
from backend.files import rows
from backend.files.erasing import erase_copies, erase_deleted
from backend.files.looks import content_of, details_of, sample_of, summary_of, understood_of
from backend.files.origins import origin_of
from backend.files.store import FileStore, Incoming
from backend.files.words import summary
from backend.sandbox.errors import OutOfMemory, OutOfTime, SandboxError
from backend.schemas.data.files import (
    FileCorrections,
    FileDetails,
    FileKind,
    FilePage,
    FilePreview,
    IfExists,
)
from backend.schemas.data.sources import TableSample
from backend.schemas.people.rights import Right
from backend.types import JSON
from db.models.file import FileRow
from db.session import Database

WAIT_SECONDS = 20.0  # after that, the response says that the file is still being read
SAMPLE_ROWS = 20
T = TypeVar("T")
log = logging.getLogger(__name__)


class Files:
    """The files of an installation, for one process; `megabytes` is the limit per person."""

    def __init__(
        self, database: Database, store: FileStore, sources: Sources, megabytes: int
    ) -> None:
        self.store = store
        self._database = database
        self._sources = sources
        self._megabytes = megabytes
        self._reading: dict[UUID, asyncio.Task[None]] = {}

    async def check_room(self, scope: Scope, size: int) -> None:
        """Raise NoRoomForFiles if a file of this size would exceed the limit."""
        await self._read_database(
            lambda session: rows.check_room(session, scope, size, self._megabytes)
        )

    async def take(
        self,
        scope: Scope,
        incoming: Incoming,
        name: str,
        session_id: UUID | None,
        if_exists: IfExists,
    ) -> FileDetails:
        """Store a file that has arrived, read it, and return how it was read.

        Raise InvalidInput, SessionNotFound, FileExists or NoRoomForFiles, and leave nothing behind.
        """
        file_id = await anyio.to_thread.run_sync(
            self._store, scope, incoming, name, session_id, if_exists
        )
        return await self.get(scope, file_id)

    async def get(self, scope: Scope, file_id: UUID) -> FileDetails:
        """Return one file, read first if it was not yet. Raise FileNotFound."""
        row = await self._find(scope, file_id)
        if row.understood is None:
            await asyncio.wait([self._begin_reading(row)], timeout=WAIT_SECONDS)
            row = await self._find(scope, file_id)
        return details_of(row)

    async def list_page(
        self, scope: Scope, session_id: UUID | None, *, cursor: str | None, limit: int
    ) -> FilePage:
        """Return a page of files, newest first: all, or those that a session can use."""

        def read(session: Session) -> FilePage:
            if session_id is not None:
                conversations.check_visible(session, scope, session_id)
            found, following = rows.list_page(
                session, scope, session_id, cursor=cursor, limit=limit
            )
            return FilePage(items=[summary_of(row) for row in found], next_cursor=following)

        return await self._read_database(read)

    async def sample(
        self, scope: Scope, file_id: UUID, table: str | None, limit: int
    ) -> TableSample:
        """Return the first rows of a table. Raise FileNotFound, DataError, InvalidInput."""
        row = await self._find(scope, file_id)
        return await self._sample(scope, origin_of(row, self.store), table, limit)

    async def preview(self, scope: Scope, file_id: UUID, change: FileCorrections) -> FilePreview:
        """Return how a file would be read. Raise FileNotFound, DataError, SandboxError."""
        row = await self._find(scope, file_id, Right.MANAGE)
        origin = _corrected(origin_of(row, self.store), merged(row.corrections, change))
        origin = _as_preview(origin)
        info = await self._sources.read(scope.user_id, origin)
        stored = understood_of(info)
        sample = await self._sample(scope, origin, None, SAMPLE_ROWS)
        return FilePreview(
            summary=summary(stored["tables"]), content=content_of(stored), sample=sample
        )

    async def correct(self, scope: Scope, file_id: UUID, change: FileCorrections) -> FileDetails:
        """Read a file with corrections and store them. If they cannot be applied, change nothing.

        Raise FileNotFound, CorrectionRefused, SourceUnusable or SandboxError.
        """
        row = await self._find(scope, file_id, Right.MANAGE)
        corrections = merged(row.corrections, change)
        origin = _corrected(origin_of(row, self.store), corrections)
        info = await self._sources.read(scope.user_id, origin)
        values = {
            "corrections": corrections,
            "understood": understood_of(info),
            "kind": _kind(info),
        }

        def write(session: Session) -> None:
            rows.correct(session, scope, file_id, values)
            details = {"corrected": sorted(corrections)}
            audit.record(session, scope.user_id, "corrected", "file", file_id, details)

        await self._write_database(write)
        return details_of(await self._find(scope, file_id))

    async def remove(self, scope: Scope, file_id: UUID) -> None:
        """Delete a file and everything derived from it. Raise FileNotFound."""

        def write(session: Session) -> None:
            rows.remove(session, scope, file_id)
            audit.record(session, scope.user_id, "deleted", "file", file_id)

        await self._write_database(write)
        await anyio.to_thread.run_sync(erase_deleted, self._database, self.store)

    async def find(self, scope: Scope, file_id: UUID) -> FileRow:
        """Return a file's row, to send its bytes. Raise FileNotFound or SourceUnusable."""
        row = await self._find(scope, file_id)
        if await anyio.to_thread.run_sync(self.store.size, file_id) is None:
            raise SourceUnusable(GONE)
        return row

    def _store(
        self,
        scope: Scope,
        incoming: Incoming,
        name: str,
        session_id: UUID | None,
        if_exists: IfExists,
    ) -> UUID:
        file_id, is_sealed = rows.new_id(), False
        try:
            new = _new_file(incoming, rows.clean_name(name), session_id)
            incoming.seal(file_id)
            is_sealed = True
            taken = self._sources.names()
            with self._database.transaction() as session:
                if session_id is not None:
                    conversations.lock(session, scope, session_id)
                replaced = rows.add(
                    session,
                    scope,
                    file_id,
                    new,
                    most_megabytes=self._megabytes,
                    taken=taken,
                    if_exists=if_exists,
                )
                if replaced is not None:
                    details = {"replaced": str(replaced), "name": new.name}
                    audit.record(session, scope.user_id, "replaced", "file", file_id, details)
                incoming.keep(file_id)
        except BaseException:
            if is_sealed:
                self.store.erase(file_id)
            raise
        finally:
            incoming.drop()
        if replaced is not None:
            erase_deleted(self._database, self.store)
        erase_copies(self._database, self.store)
        return file_id

    def _begin_reading(self, row: FileRow) -> asyncio.Task[None]:
        """Return the task that reads a file for the first time, shared by all who need it."""
        task = self._reading.get(row.id)
        if task is None:
            task = asyncio.create_task(self._read_first(row))
            self._reading[row.id] = task
            task.add_done_callback(lambda _: self._reading.pop(row.id, None))
        return task

    async def _read_first(self, row: FileRow) -> None:
        origin = origin_of(row, self.store)
        info = info_of(origin)
        try:
            info = await self._sources.read(in_background(row.owner_id), origin)
        except (OutOfTime, OutOfMemory) as error:
            info = replace(info, error=too_much(error))
        except (SandboxError, FileStoreUnavailable):
            return  # not the file's fault: it is read at the next request
        except DataError as error:
            info = replace(info, error=error.detail)
        except Exception:  # an edge: nothing awaits this task, so its failure would be lost
            log.exception("A file cannot be read")
            return
        understood = understood_of(info)
        kind = FileKind(row.kind) if info.error else _kind(info)
        is_there = await self._write_database(
            lambda session: rows.save_reading(session, row.id, row.corrections, understood, kind)
        )
        if not is_there:  # deleted since: what was derived from it is removed, too
            await anyio.to_thread.run_sync(self.store.erase, row.id)

    async def _sample(
        self, scope: Scope, origin: Origin, table: str | None, limit: int
    ) -> TableSample:
        view = self._sources.alone(origin)
        found, rows_ = await view.sample(scope.user_id, origin.name, table, limit)
        return sample_of(found, rows_)

    async def _find(self, scope: Scope, file_id: UUID, right: Right = Right.QUERY) -> FileRow:
        return await self._read_database(lambda session: rows.find(session, scope, file_id, right))

    async def _read_database(self, work: Callable[[Session], T]) -> T:
        def read() -> T:
            with self._database.read() as session:
                return work(session)

        return await anyio.to_thread.run_sync(read)

    async def _write_database(self, work: Callable[[Session], T]) -> T:
        def write() -> T:
            with self._database.transaction() as session:
                return work(session)

        return await anyio.to_thread.run_sync(write)


def merged(stored: JSON, change: FileCorrections) -> JSON:
    """Return the corrections after a change: omitted fields are kept, null removes one."""
    given = change.model_dump(mode="json", exclude_unset=True)
    types = {**stored.get("types", {}), **(given.pop("types", None) or {})}
    kept: dict[str, Any] = {**stored, **given}
    kept["types"] = {name: type_ for name, type_ in types.items() if type_ is not None}
    return {name: value for name, value in kept.items() if value is not None and value != {}}


def _new_file(incoming: Incoming, name: str, session_id: UUID | None) -> rows.NewFile:
    """Return what is stored of a file. Raise InvalidInput if its format cannot be read."""
    if not incoming.size:
        raise InvalidInput("The file is empty.")
    format_ = find_format(incoming.head, name)
    if not isinstance(format_, Format):
        raise InvalidInput(
            f"This is {format_}, which cannot be read. Tables can be CSV, text, Excel, Parquet or "
            "JSON; documents PDF, text or Markdown."
        )
    is_document = format_ in (Format.PDF, Format.DOCUMENT)
    kind = FileKind.DOCUMENT if is_document else FileKind.TABLE
    return rows.NewFile(name, incoming.size, incoming.sha256, format_, kind, session_id)


def _corrected(origin: Origin, corrections: JSON) -> Origin:
    upload = _upload(origin)
    upload = replace(upload, corrections=Corrections.of(corrections))
    return replace(origin, upload=upload, version=upload.version, problem=None)


def _as_preview(origin: Origin) -> Origin:
    """Return the origin with a copy of its own, so that a preview changes nothing."""
    upload = _upload(origin)
    return replace(origin, upload=replace(upload, id=f"{upload.id}.preview"))


def _upload(origin: Origin) -> Upload:
    if origin.upload is None:
        raise TypeError
    return origin.upload


def _kind(info: SourceInfo) -> FileKind:
    names: Sequence[str] = [table.name for table in info.tables]
    return FileKind.DOCUMENT if names == ["pages"] else FileKind.TABLE
