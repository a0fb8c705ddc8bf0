"""Files of a session that agents may keep: uploads, and files of tool results."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import anyio.to_thread
from sqlalchemy.orm import Session

from backend.artifacts.contents import digest
from backend.artifacts.making import check_size
from backend.auth.scope import Scope
from backend.conversations.media import Medium, list_media, read_medium
from backend.errors.artifacts import ArtifactRefused
from backend.errors.conversations import ResultNotFound
from backend.files.rows import list_usable
from backend.files.store import FileStore
from backend.text import first_of
from backend.types import JSON
from db.models.file import FileRow
from db.session import Database

MOST_NAMED = 10  # in one answer
_listed = partial(first_of, most=MOST_NAMED)
T = TypeVar("T")


@dataclass(frozen=True)
class Copied:
    """A file that was copied: its name, and where it came from."""

    name: str
    origin: JSON


@dataclass(frozen=True)
class SessionFiles:
    """The files of one conversation, as who asks may use them."""

    database: Database
    store: FileStore
    find_scope: Callable[[], Scope]
    conversation_id: UUID

    async def copy_upload(self, name: str, place: Path) -> Copied:
        """Copy the uploaded file with this name or query name. Raise ArtifactRefused."""
        usable = await self._read(lambda s: list_usable(s, self.find_scope(), self.conversation_id))
        row = _choose_upload(name, [one.file for one in usable])
        check_size(row.size)
        if await anyio.to_thread.run_sync(self._copy, row.id, place) != row.sha256:
            raise ArtifactRefused(
                f"The content of “{row.name}” is missing or damaged. Ask the person to upload it"
                " again."
            )
        return Copied(
            row.name, {"file": row.name, "file_id": str(row.id), "fingerprint": row.sha256}
        )

    async def copy_given(self, call: str, number: int, place: Path) -> Copied:
        """Copy a file of a tool's newest result, or of the call with this id.

        Raise ArtifactRefused.
        """
        media = await self._read(lambda s: list_media(s, self.find_scope(), self.conversation_id))
        medium = _choose_medium(call.strip(), number, media)
        check_size(medium.size)
        try:
            content = await self._read(
                lambda s: read_medium(s, self.find_scope(), self.conversation_id, medium)
            )
        except ResultNotFound:
            raise ArtifactRefused(
                f"The file from {medium.tool} is no longer stored. Call the tool again."
            ) from None
        await anyio.to_thread.run_sync(place.write_bytes, content)
        values = {"of_tool": medium.tool, "of_call": medium.call_id, "file": medium.name}
        values["fingerprint"] = await anyio.to_thread.run_sync(digest, place)
        origin = {name: value for name, value in values.items() if value}
        return Copied(medium.name, origin)

    def _copy(self, file_id: UUID, place: Path) -> str | None:
        """Copy a file and return its digest; None if it is gone."""
        try:
            shutil.copyfile(self.store.fetch(file_id), place)
        except FileNotFoundError:
            return None
        return digest(place)

    async def _read(self, work: Callable[[Session], T]) -> T:
        def read() -> T:
            with self.database.read() as session:
                return work(session)

        return await anyio.to_thread.run_sync(read)


def _choose_upload(name: str, rows: Sequence[FileRow]) -> FileRow:
    wanted = name.strip().casefold()
    found = [row for row in rows if row.source == wanted]
    found = found or [row for row in rows if row.name.casefold() == wanted]
    if not found:
        known = _listed([row.name for row in rows])
        there = f"There are: {known}." if known else "Nothing has been uploaded."
        raise ArtifactRefused(f"There is no uploaded file “{name[:100]}” here. {there}")
    if len(found) > 1:
        known = _listed([row.source for row in found])
        raise ArtifactRefused(
            f"Several files are called “{found[0].name}”. Say which one by its name for queries,"
            f" the newest first: {known}."
        )
    return found[0]


def _choose_medium(call: str, number: int, media: Sequence[Medium]) -> Medium:
    """Return a file of the newest matching call; files are numbered in the call's order."""
    newest = next((one.call_id for one in media if call in (one.call_id, one.tool)), None)
    found = [one for one in media if one.call_id == newest][::-1]
    if not found:
        known = _listed(list(dict.fromkeys(one.tool for one in media)))
        there = f"Files came from: {known}." if known else "No tool has given one so far."
        raise ArtifactRefused(
            f"No result of “{call[:100]}” in this session holds a picture or file. {there} A tool's"
            " file can be kept once its result is there."
        )
    if number > len(found):
        files = "1 file" if len(found) == 1 else f"{len(found)} files"
        raise ArtifactRefused(f"The result of {found[0].tool} holds {files}; there is no {number}.")
    return found[number - 1]
