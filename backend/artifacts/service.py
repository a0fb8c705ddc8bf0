"""Artifacts: make, revise, read, compare and download them; linked to their messages."""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import NAMESPACE_OID, UUID, uuid5

import anyio.to_thread
from sqlalchemy.orm import Session

from backend.artifacts import rows
from backend.artifacts.contents import Contents
from backend.artifacts.diffing import diff_tables, diff_texts
from backend.artifacts.forms import AS_STORED, check_form, draw, read_json, write_csv, write_xlsx
from backend.artifacts.local_files import Download, LocalFiles
from backend.artifacts.making import Content, Maker
from backend.artifacts.pages import PAGE_ROWS, READING, Pages
from backend.artifacts.rows import Added, NewVersion
from backend.auth.scope import Scope
from backend.data.files.parquet import Written, write_rows
from backend.data.results import Table
from backend.errors.artifacts import ArtifactRefused
from backend.errors.base import InvalidInput
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from backend.schemas.artifacts import (
    Artifact,
    ArtifactContent,
    ArtifactDiff,
    ArtifactKind,
    ArtifactPage,
    ArtifactVersion,
)
from backend.tabular.charts.drawing import MAX_POINTS
from backend.types import JSON
from db.failpoints import failpoint
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.session import Database

DIFF_ROWS = 200
_DIFFING = Bounds(120, 400)
_GIVING = Bounds(300, 400)
_DRAWING = Bounds(60, 1_500)  # the drawing engine reserves more memory than it uses
T = TypeVar("T")
_Versions = tuple[ArtifactVersionRow, ArtifactVersionRow]


class Artifacts:
    """The artifacts of an installation, for one process."""

    def __init__(self, database: Database, contents: Contents, sandbox: Sandbox) -> None:
        self.contents = contents
        self._database = database
        self._sandbox = sandbox
        self.files = LocalFiles(database, contents)
        self.pages = Pages(self.files, sandbox)

    async def make(self, maker: Maker, title: str, content: Content) -> Added:
        """Make an artifact; once per key. Raise SessionNotFound or ArtifactRefused."""
        artifact_id = uuid5(NAMESPACE_OID, f"artifact {maker.key}") if maker.key else None

        def write(session: Session, new: NewVersion) -> Added:
            return rows.add(session, rows.home_of(session, maker.conversation_id), new, artifact_id)

        return await self._add(maker, title, content, write)

    async def revise(self, maker: Maker, artifact_id: UUID, title: str, content: Content) -> Added:
        """Add a version; equal content adds none. Raise ArtifactNotFound or ArtifactRefused."""

        def write(session: Session, new: NewVersion) -> Added:
            home = rows.home_of(session, maker.conversation_id)
            return rows.revise(session, artifact_id, home, new)

        return await self._add(maker, title, content, write)

    async def find(
        self, scope: Scope, conversation_id: UUID, artifact_id: UUID, version: int | None = None
    ) -> tuple[ArtifactRow, ArtifactVersionRow]:
        """Return a version of an artifact that a conversation's agents may read.

        Raise ArtifactNotFound.
        """

        def read(session: Session) -> tuple[ArtifactRow, ArtifactVersionRow]:
            home = rows.home_of(session, conversation_id)
            return rows.find(session, scope, artifact_id, version, home)

        return await self._write(read)  # it locks the conversation, which needs a transaction

    async def list_page(
        self, scope: Scope, session_id: UUID, *, cursor: str | None, limit: int
    ) -> ArtifactPage:
        """Return a page of a session's artifacts. Raise SessionNotFound."""
        items, following = await self._read(
            lambda s: rows.list_page(s, scope, session_id, cursor=cursor, limit=limit)
        )
        return ArtifactPage(items=items, next_cursor=following)

    async def get(self, scope: Scope, artifact_id: UUID) -> Artifact:
        """Return an artifact as in lists. Raise ArtifactNotFound."""

        def read(session: Session) -> Artifact:
            return rows.listed(*rows.find(session, scope, artifact_id))

        return await self._read(read)

    async def read(
        self, scope: Scope, artifact_id: UUID, version: int, offset: int, limit: int | None
    ) -> ArtifactContent:
        """Return a version with a page of it.

        Raise ArtifactNotFound, ArtifactContentGone, and InvalidInput if its kind has no such page.
        """

        def find(session: Session) -> tuple[ArtifactRow, ArtifactVersionRow, list[ArtifactVersion]]:
            artifact, row = rows.find(session, scope, artifact_id, version)
            return artifact, row, rows.list_versions(session, artifact)

        artifact, row, versions = await self._read(find)
        described = rows.wire_version(row, artifact.kind)
        preview = await self._preview(scope, artifact, row, offset, limit)
        return ArtifactContent(**dict(described), preview=preview, versions=versions)

    async def _preview(
        self,
        scope: Scope,
        artifact: ArtifactRow,
        row: ArtifactVersionRow,
        offset: int,
        limit: int | None,
    ) -> JSON:
        """Return the preview of a version from `offset` on: rows, or characters of a text.

        Raise InvalidInput for an offset or a limit that would change nothing.
        """
        if artifact.kind == ArtifactKind.TABLE:
            page = await self.pages.rows(scope, row, offset, limit or PAGE_ROWS)
            return page | {"total_rows": row.preview["total_rows"]}
        if limit is not None:
            raise InvalidInput("A limit counts rows, and only tables have them. Leave out limit.")
        if text := await self.pages.text(artifact, row, offset):
            return text
        if offset:
            raise InvalidInput(
                "Only tables, documents and long JSON are read in pages. Leave out offset."
            )
        if artifact.kind == ArtifactKind.CHART:
            return {**row.preview, "table": await self.chart_data(scope, artifact, row)}
        if artifact.kind == ArtifactKind.JSON and "value" not in row.preview:
            return {"value": await anyio.to_thread.run_sync(json.loads, await self.files.text(row))}
        return row.preview

    async def chart_data(
        self, scope: Scope, artifact: ArtifactRow, row: ArtifactVersionRow
    ) -> JSON:
        """Return the rows that a chart draws, from the version that it names."""
        data = row.preview["data"]
        _, source = await self._read(
            lambda s: rows.find(
                s, scope, UUID(data["artifact_id"]), data["version"], artifact.conversation_id
            )
        )
        drawn = await self.pages.rows(scope, source, 0, MAX_POINTS)
        return drawn | {"row_count": source.preview["total_rows"]}

    async def write_rows(self, scope: Scope, table: Table, place: Path) -> Written:
        """Write rows as Parquet. Raise SandboxError."""
        return await self._sandbox.run(write_rows, table, place, bounds=READING, key=scope.user_id)

    async def diff(
        self, scope: Scope, artifact_id: UUID, before: int, after: int, key: Sequence[str]
    ) -> ArtifactDiff:
        """Return the difference between two versions.

        Raise ArtifactNotFound, ArtifactRefused or SandboxError.
        """
        artifact, old = await self._read(lambda s: rows.find(s, scope, artifact_id, before))
        _, new = await self._read(lambda s: rows.find(s, scope, artifact_id, after))
        compared: JSON = {"artifact_id": artifact_id, "before": before, "after": after}
        if key and artifact.kind != ArtifactKind.TABLE:
            raise ArtifactRefused(f"`key` names columns, and a {artifact.kind} has none.")
        if old.hash == new.hash and not key:
            kind = {"table": "rows", "image": "bytes", "file": "bytes"}.get(artifact.kind, "lines")
            return ArtifactDiff(**compared, kind=kind, key=list(key), is_equal=True)
        if artifact.kind in (ArtifactKind.IMAGE, ArtifactKind.FILE):
            return ArtifactDiff(**compared, kind="bytes", changed=abs(new.size - old.size) or 1)
        found = await self._different(scope, artifact.kind, (old, new), key)
        is_equal = not (found["added"] or found["removed"] or found.get("changed"))
        columns = found.get("columns_added") or found.get("columns_removed")
        return ArtifactDiff(**compared, **found, is_equal=is_equal and not columns)

    async def download(self, scope: Scope, artifact_id: UUID, version: int, form: str) -> Download:
        """Return a version in one of the formats of its kind, as an open file.

        Raise ArtifactNotFound, ArtifactRefused, ArtifactContentGone or SandboxError.
        """
        artifact, row = await self._read(lambda s: rows.find(s, scope, artifact_id, version))
        check_form(artifact.kind, form)
        data: JSON = {}
        if artifact.kind == ArtifactKind.CHART and (artifact.kind, form) not in AS_STORED:
            data = await self.chart_data(scope, artifact, row)
        # Unlinked before it is sent, so that the file is gone once closed, whatever happens.
        folder = await anyio.to_thread.run_sync(self.contents.new_folder)
        try:
            formed = await self._form(scope, artifact.kind, form, row, folder, data)
            file = await anyio.to_thread.run_sync(lambda: formed.open("rb"))
        finally:
            await anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))
        size = file.seek(0, 2)
        file.seek(0)
        return Download(file, size, rows.wire_version(row, artifact.kind))

    async def _form(
        self, scope: Scope, kind: str, form: str, row: ArtifactVersionRow, folder: Path, data: JSON
    ) -> Path:
        place, target = await self.files.localize(row, folder), folder / "form"
        if (kind, form) in AS_STORED:
            return place
        run = partial(self._sandbox.run, key=scope.user_id)
        if form == "csv":
            await run(write_csv, place, target, bounds=_GIVING)
        elif form == "xlsx":
            total = row.preview["total_rows"]
            await run(write_xlsx, place, row.title, total, target, bounds=_GIVING)
        else:
            spec = await anyio.to_thread.run_sync(read_json, place)
            await run(draw, spec, data, form, target, bounds=_DRAWING)
        return target

    async def _different(
        self, scope: Scope, kind: str, versions: _Versions, key: Sequence[str]
    ) -> JSON:
        old, new = versions
        run = partial(self._sandbox.run, bounds=_DIFFING, key=scope.user_id)
        if kind != ArtifactKind.TABLE:
            names = (f"version {old.version}", f"version {new.version}")
            texts = (await self.files.text(old), await self.files.text(new))
            differ = partial(diff_texts, is_json=kind != ArtifactKind.DOCUMENT)
            return await run(differ, *texts, names)

        async def work(place: Path, folder: Path) -> JSON:
            other = await anyio.to_thread.run_sync(self.files.fetch, new, folder / "after")
            sides = (place, other, list(key), DIFF_ROWS, folder)
            return await run(diff_tables, *sides)

        return await self.files.open(old, work)

    async def _add(
        self,
        maker: Maker,
        title: str,
        content: Content,
        write: Callable[[Session, NewVersion], Added],
    ) -> Added:
        """Store a content, then write its row; a content without a row is erased."""

        def work() -> Added:
            kept, is_named = self.contents.keep(content.place), False
            try:
                new = NewVersion(
                    title=title,
                    kind=content.kind,
                    media_type=content.media_type,
                    kept=kept,
                    preview=content.preview,
                    origin=content.origin,
                    agent=maker.agent,
                    turn_id=maker.turn_id,
                    key=maker.key,
                )
                with self._database.transaction() as session:
                    added = write(session, new)
                is_named = added.is_new
                failpoint("artifact.made")
                return added
            finally:
                if not is_named:
                    self.contents.drop(kept)

        return await anyio.to_thread.run_sync(work)

    async def _read(self, work: Callable[[Session], T]) -> T:
        def read() -> T:
            with self._database.read() as session:
                return work(session)

        return await anyio.to_thread.run_sync(read)

    async def _write(self, work: Callable[[Session], T]) -> T:
        def write() -> T:
            with self._database.transaction() as session:
                return work(session)

        return await anyio.to_thread.run_sync(write)
