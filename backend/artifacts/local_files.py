"""A version's content as a local file, for as long as it is needed."""

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

import anyio.to_thread

from backend.artifacts import rows
from backend.artifacts.contents import Contents
from backend.schemas.artifacts import ArtifactVersion
from db.models.artifacts.artifact import ArtifactVersionRow
from db.session import Database

T = TypeVar("T")


@dataclass(frozen=True)
class Download:
    """An open file to send; its reader closes it at the end."""

    file: IO[bytes]
    size: int
    version: ArtifactVersion


class LocalFiles:
    """Fetches contents from the database and the store."""

    def __init__(self, database: Database, contents: Contents) -> None:
        self._database = database
        self._contents = contents

    async def text(self, row: ArtifactVersionRow) -> str:
        """Return a version's whole content as text."""

        async def work(place: Path, _: Path) -> str:
            return await anyio.to_thread.run_sync(partial(place.read_text, encoding="utf-8"))

        return await self.open(row, work)

    async def open(self, row: ArtifactVersionRow, work: Callable[[Path, Path], Awaitable[T]]) -> T:
        """Run the work with a local file of a version's content, and a folder of its own."""
        folder = await anyio.to_thread.run_sync(self._contents.new_folder)
        try:
            return await work(await self.localize(row, folder), folder)
        finally:
            await anyio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))

    async def localize(self, row: ArtifactVersionRow, folder: Path) -> Path:
        """Return a version's content as a file in a folder."""
        return await anyio.to_thread.run_sync(self.fetch, row, folder / "stored")

    def fetch(self, row: ArtifactVersionRow, place: Path) -> Path:
        """Return a version's content at this path, or where it already is; blocks."""
        content = None
        if row.key is None:
            with self._database.read() as session:
                content = rows.content_of(session, row)
        return self._contents.local(content, row.key, place)
