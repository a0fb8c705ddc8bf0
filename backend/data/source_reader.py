"""Reads sources in the sandbox: what is known of each, and the copy that queries run on.

A source is read when it is first needed, and again when its file has changed.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from weakref import WeakValueDictionary

from backend.data.being_read import reading
from backend.data.errors import DataError, SourceUnusable
from backend.data.files.formats import Format
from backend.data.files.readers import fill_snapshot
from backend.data.files.snapshots import ensure_snapshot
from backend.data.files.uploads import Upload, fill_upload
from backend.data.finance.build import build_finance
from backend.data.origins import Origin
from backend.data.profile import list_tables
from backend.data.questions import reflect_database
from backend.data.source_info import SourceInfo, info_of, too_much
from backend.errors.files import FileStoreUnavailable
from backend.sandbox.errors import OutOfMemory, OutOfTime, SandboxError
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox

MEGABYTES = 300
READING = Bounds(120, MEGABYTES)  # for a file, which is read when it is first needed
_BUILDING = Bounds(300, MEGABYTES)  # for our own data, even on a slow machine
_UPLOAD_SECONDS = 300  # an upload is read in the background
_PDF_MEGABYTES = 500  # its objects are in memory at once, up to 5,000 pages
_REFLECTING = Bounds(20, MEGABYTES)
_REFUSED_SECONDS = 300  # before a file that exceeded its limits is tried again
_MOST_KNOWN = 5_000


Fetch = Callable[[Upload], None]


def is_there(upload: Upload) -> None:
    """For files that are on this machine: what reads one says if it is gone."""


def in_background(asker: str) -> str:
    """Return the key for reading that nobody waits for, so that it does not delay the queries."""
    return f"{asker} reads"


class SourceReader:
    """What is known of an installation's sources; all turns of a loop share it."""

    def __init__(self, data_dir: Path, sandbox: Sandbox, fetch: Fetch) -> None:
        self._cache = data_dir / "cache" / "sources"
        self._cache_of_uploads = data_dir / "cache" / "files"
        self._sandbox = sandbox
        self._fetch = fetch
        self._known: dict[str, tuple[str, float, SourceInfo]] = {}
        self._reading: dict[tuple[object, str, str], asyncio.Task[SourceInfo]] = {}
        self._making: WeakValueDictionary[tuple[object, str, str], asyncio.Lock]
        self._making = WeakValueDictionary()

    async def info(self, asker: str, origin: Origin) -> SourceInfo:
        """Return what is known of a source, read again if its file has changed."""
        info = info_of(origin)
        if origin.problem:
            return replace(info, error=origin.problem)
        version, until, known = self._known.get(origin.key, ("", 0.0, None))
        if known and version == origin.version and time.monotonic() < until:
            return known
        until = inf
        try:
            info = await self.read(asker, origin)
        except SandboxError as error:
            info = replace(info, error=too_much(error))
            is_its_own = isinstance(error, OutOfTime | OutOfMemory)
            until = time.monotonic() + _REFUSED_SECONDS if is_its_own else 0.0
        except FileStoreUnavailable as error:
            info, until = replace(info, error=error.detail), 0.0
        except DataError as error:
            info = replace(info, error=error.detail)
        # A database's error is not kept: it may be gone at the next query.
        if not (origin.url and info.error):
            self._remember(origin, until, info)
        return info

    async def usable(self, asker: str, origin: Origin) -> SourceInfo:
        """Return what is known of a source. Raise SourceUnusable if it cannot be read."""
        info = await self.info(asker, origin)
        if info.error:
            raise SourceUnusable(f"The source {info.name} cannot be read: {info.error}")
        return info

    def begin_reading(self, asker: str, origin: Origin) -> asyncio.Task[SourceInfo]:
        """Return the task that reads a source for a list, shared by all callers on this loop."""
        key = (asyncio.get_running_loop(), origin.key, origin.version)
        task = self._reading.get(key)
        if task is None:
            task = asyncio.create_task(self.info(in_background(asker), origin))
            self._reading[key] = task
            task.add_done_callback(lambda _: self._reading.pop(key, None))
        return task

    async def read(self, asker: str, origin: Origin) -> SourceInfo:
        """Read a source now and return it. Raise DataError or SandboxError."""
        info, run = info_of(origin), self._sandbox.run
        if origin.url:
            read = await run(reflect_database, origin.url, bounds=_REFLECTING, key=asker)
            catalog, dialect = read
            return replace(info, tables=catalog.tables, note=catalog.note, dialect=dialect)
        snapshot = await self._snapshot(asker, origin)
        tables = await run(list_tables, origin.name, snapshot, bounds=READING, key=asker)
        return replace(info, tables=tables)

    async def usable_snapshot(self, asker: str, origin: Origin) -> Path:
        """Return the path of the source's copy. Raise SourceUnusable."""
        try:
            return await self._snapshot(asker, origin)
        except SandboxError as error:
            raise SourceUnusable(
                f"The source {origin.name} cannot be read: {too_much(error)}"
            ) from None
        except FileStoreUnavailable as error:
            raise SourceUnusable(
                f"The source {origin.name} cannot be read: {error.detail}"
            ) from None

    async def _snapshot(self, asker: str, origin: Origin) -> Path:
        """Return the path of the source's copy, made now if it is missing."""
        name, file, upload = f"{origin.name}.duckdb", origin.path, origin.upload
        bounds = replace(READING, seconds=_UPLOAD_SECONDS) if upload else READING
        if upload and upload.format is Format.PDF:
            bounds = replace(bounds, megabytes=_PDF_MEGABYTES)

        async def fill(folder: Path) -> None:
            run = self._sandbox.run
            if upload is not None:
                await asyncio.to_thread(self._fetch, upload)
                place = (folder / name, origin.name, upload)
                await run(fill_upload, *place, bounds=bounds, key=asker)
            elif file is not None:
                places = (folder / name, origin.name, file, origin.folder or file.parent)
                await run(fill_snapshot, *places, bounds=bounds, key=asker)
            else:
                await run(build_finance, folder, bounds=_BUILDING, key=asker)

        cache = self._cache_of_uploads if upload else self._cache
        folder = upload.id if upload else "finance" if file is None else origin.name
        key = (asyncio.get_running_loop(), folder, origin.version)
        alone = self._making.get(key) or self._making.setdefault(key, asyncio.Lock())
        try:
            with reading(origin.name):
                async with alone:  # concurrent callers wait for the same copy
                    return await ensure_snapshot(cache, folder, origin.version, fill) / name
        except OSError as error:
            raise SourceUnusable(f"Its copy cannot be written: {error.strerror}.") from None

    def _remember(self, origin: Origin, until: float, info: SourceInfo) -> None:
        """Cache what is known of a source; the oldest entries make room."""
        self._known.pop(origin.key, None)
        self._known[origin.key] = (origin.version, until, info)
        while len(self._known) > _MOST_KNOWN:
            self._known.pop(next(iter(self._known)), None)
