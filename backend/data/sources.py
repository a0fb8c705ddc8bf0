"""All sources that tools may ask: the bundled finance data, files and databases.

What is read and asked happens in children of the sandbox; each source has its own limits.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from backend.data.being_read import reading
from backend.data.compare import Thresholds
from backend.data.comparing import Side, compare_sides
from backend.data.errors import (
    DataError,
    QueryFailed,
    QueryRefused,
    QueryTimedOut,
    SourceUnusable,
)
from backend.data.files.readers import fill_snapshot
from backend.data.files.snapshots import ensure_snapshot
from backend.data.files.uploads import DOCUMENT, fill_upload
from backend.data.finance.build import build_finance
from backend.data.origins import (
    BUNDLED,
    Beside,
    Catalogue,
    Fixed,
    Origin,
    Origins,
    find_origin,
)
from backend.data.profile import list_tables, profile_tables
from backend.data.questions import (
    Question,
    Snapshot,
    choose_table,
    query_database,
    query_snapshots,
    reflect_database,
)
from backend.data.results import Limits, Table
from backend.data.source_info import SourceInfo, info_of, listed, mentions, too_much
from backend.data.sql.guard import MAX_QUERY_CHARS
from backend.data.sql.names import written
from backend.data.tables import TableInfo
from backend.sandbox.errors import OutOfMemory, OutOfTime, SandboxError
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox

PRELOADED = ("backend.data.preloaded",)  # what the sandbox's children need
MEGABYTES = 300
_READING = Bounds(120, MEGABYTES)  # a file is read when it is first asked for
_BUILDING = Bounds(300, MEGABYTES)  # our own data, on however slow a machine
_READING_CELLS = Bounds(120, 500)  # a workbook's cells are all in memory at once
_UPLOAD_SECONDS = 300  # its reader does not wait for it
_REFLECTING = Bounds(20, MEGABYTES)
_COMPARING = Bounds(30, MEGABYTES)
_REFUSED_SECONDS = 300  # how long a file that took too much is not tried again
_MOST_KNOWN = 5_000
_LIST_SECONDS = 60.0  # how long a list waits for files and databases that were not read before

T = TypeVar("T")


class Sources:
    """The sources of one installation; all turns of a loop share them.

    `asker` names the session that asks: it does not take the whole sandbox. Files that came,
    changed or went are noticed at the next call.
    """

    def __init__(self, data_dir: Path, source_urls: Mapping[str, str], sandbox: Sandbox) -> None:
        self._origins: Catalogue = Origins(data_dir, source_urls)
        self._cache = data_dir / "cache" / "sources"
        self._cache_of_uploads = data_dir / "cache" / "files"
        self._sandbox = sandbox
        self._known: dict[str, tuple[str, float, SourceInfo]] = {}
        self._reading: dict[tuple[object, str, str], asyncio.Task[SourceInfo]] = {}
        self._making: WeakValueDictionary[tuple[object, str, str], asyncio.Lock]
        self._making = WeakValueDictionary()

    def beside(self, find_uploads: Callable[[], Sequence[Origin]]) -> "Sources":
        """Return these sources with uploads beside them, which are looked up at each call."""
        view = copy(self)
        view._origins = Beside(self._origins, find_uploads)
        return view

    def alone(self, *origins: Origin) -> "Sources":
        """Return these few sources by themselves."""
        view = copy(self)
        view._origins = Fixed(*origins)
        return view

    async def read(self, asker: str, origin: Origin) -> SourceInfo:
        """Return a source as it is read now.

        Raise SourceUnusable, CorrectionRefused, SandboxError.
        """
        info = info_of(origin)
        return await self._read(asker, origin, info)

    async def documents(self) -> list[str]:
        """Return the names of the documents beside the installation's sources."""
        origins = self._origins
        if not isinstance(origins, Beside):
            return []
        uploads = await asyncio.to_thread(origins.find_uploads)
        return [origin.name for origin in uploads if origin.kind == DOCUMENT]

    def names(self) -> list[str]:
        """Return the names of all sources: bundled, then databases, then files."""
        return list(self._origins.find_all())

    async def list_all(self, asker: str, wait_seconds: float = _LIST_SECONDS) -> list[SourceInfo]:
        """Return all sources with their tables; one that cannot be read is listed with its error.

        So is one that takes longer than the list waits; it is read on, for the next list.
        """
        origins = list((await self._all()).values())
        tasks = [self._begin_reading(asker, origin) for origin in origins]
        await asyncio.wait(tasks[: len(BUNDLED)])
        await asyncio.wait(tasks, timeout=wait_seconds)
        return [listed(origin, task) for origin, task in zip(origins, tasks, strict=True)]

    def left_out(self) -> int:
        """Return how many files are no sources since there are too many."""
        return self._origins.left_out

    async def find(self, asker: str, name: str) -> SourceInfo:
        """Return one source with its tables. Raise UnknownSource, SourceUnusable."""
        return await self._usable(asker, find_origin(await self._all(), name))

    async def describe(self, asker: str, name: str, table: str | None = None) -> SourceInfo:
        """Return one source, its tables (or the one named) with the values of their columns."""
        origin = find_origin(await self._all(), name)
        info = await self._usable(asker, origin)
        tables = info.tables
        if table is not None:
            tables = (choose_table(info.name, tables, table, info.dialect),)
        if not origin.url:
            path = await self._usable_snapshot(asker, origin)
            tables = await self._ask(asker, _READING, profile_tables, info.name, path, tables)
        return replace(info, tables=tables)

    async def query(self, asker: str, name: str, question: Question, limits: Limits) -> Table:
        """Return the result of one SELECT, or sums by keys with the sum in the last column.

        In all but databases a SELECT may join tables of other sources.
        """
        if isinstance(question, str) and len(question) > MAX_QUERY_CHARS:
            raise QueryRefused(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
        origins = await self._all()
        origin = find_origin(origins, name)
        info = await self._usable(asker, origin)
        bounds = Bounds(limits.seconds, MEGABYTES)
        if origin.url:
            place = (info.name, origin.url, info.tables)
            return await self._ask(asker, bounds, query_database, *place, question, limits)
        default = Snapshot(info.name, info.tables, await self._usable_snapshot(asker, origin))
        named = [o for o in origins.values() if o != origin and mentions(question, o.name)]
        others = [
            Snapshot(other.name, about.tables, await self._usable_snapshot(asker, other))
            for other in named
            if not other.url and not (about := await self._info(asker, other)).error
        ]
        return await self._ask(asker, bounds, query_snapshots, default, others, question, limits)

    async def sample(
        self, asker: str, name: str, table: str | None, rows: int
    ) -> tuple[TableInfo, Table]:
        """Return the first rows of a table, of the first one without a name.

        Raise UnknownSource, SourceUnusable.
        """
        info = await self.find(asker, name)
        if not info.tables:
            raise SourceUnusable(f"The source {info.name} holds no table.")
        chosen = info.tables[0]
        if table is not None:
            chosen = choose_table(info.name, info.tables, table, info.dialect)
        place = written(chosen.exact_name, info.dialect)
        sql = f"SELECT * FROM {place} LIMIT {int(rows) + 1}"  # noqa: S608 - the name is quoted
        return chosen, await self.query(asker, info.name, sql, Limits(rows=rows))

    async def warnings(self, asker: str, name: str, sql: str) -> list[str]:
        """Return what was skipped or not understood in the files' tables that a query names."""
        origins = await self._all()
        origin = find_origin(origins, name)
        files = [o for o in origins.values() if o.path or o.upload]
        asked = [o for o in files if o == origin or mentions(sql, o.name)]
        infos = [await self._info(asker, one) for one in asked]
        tables = [(info, table) for info in infos for table in info.tables]
        return [
            f"{info.name}.{table.name}: {warning}"
            for info, table in tables
            if mentions(sql, table.name)
            for warning in table.warnings
        ]

    async def compare(
        self, asker: str, left: Side, right: Side, key_names: Sequence[str], within: Thresholds
    ) -> tuple[Table, list[str]]:
        """Return the differences between two results of `query`, and what to say about them."""
        return await self._ask(asker, _COMPARING, compare_sides, left, right, key_names, within)

    async def _all(self) -> dict[str, Origin]:
        return await asyncio.to_thread(self._origins.find_all)

    async def _ask(
        self, asker: str, bounds: Bounds, work: Callable[..., T], *arguments: object
    ) -> T:
        """Run work for a question in the sandbox. Raise DataError."""
        try:
            return await self._sandbox.run(work, *arguments, bounds=bounds, key=asker)
        except OutOfTime:
            raise QueryTimedOut(
                f"The query took longer than {bounds.seconds:g} s and was stopped. "
                "Filter or aggregate more, and try again."
            ) from None
        except OutOfMemory:
            raise QueryFailed(
                f"The query needs more than {bounds.megabytes} MB. "
                "Filter or aggregate before joining."
            ) from None
        except SandboxError as error:
            raise QueryFailed(error.detail) from None

    def _begin_reading(self, asker: str, origin: Origin) -> asyncio.Task[SourceInfo]:
        """The task that reads a source for a list: one for all on this loop who ask meanwhile."""
        key = (asyncio.get_running_loop(), origin.key, origin.version)
        task = self._reading.get(key)
        if task is None:
            # Under a key of its own: what is slow to read keeps no query of the session waiting.
            task = asyncio.create_task(self._info(f"{asker} lists", origin))
            self._reading[key] = task
            task.add_done_callback(lambda _: self._reading.pop(key, None))
        return task

    async def _usable(self, asker: str, origin: Origin) -> SourceInfo:
        info = await self._info(asker, origin)
        if info.error:
            raise SourceUnusable(f"The source {info.name} cannot be read: {info.error}")
        return info

    async def _info(self, asker: str, origin: Origin) -> SourceInfo:
        """Return what is known of a source, read again when its file has changed."""
        info = info_of(origin)
        if origin.problem:
            return replace(info, error=origin.problem)
        version, until, known = self._known.get(origin.key, ("", 0.0, None))
        if known and version == origin.version and time.monotonic() < until:
            return known
        until = inf
        try:
            info = await self._read(asker, origin, info)
        except SandboxError as error:
            info = replace(info, error=too_much(error))
            is_its_own = isinstance(error, OutOfTime | OutOfMemory)
            until = time.monotonic() + _REFUSED_SECONDS if is_its_own else 0.0
        except DataError as error:
            info = replace(info, error=error.detail)
        # What a database says now it may not say at the next question.
        if not (origin.url and info.error):
            self._remember(origin, until, info)
        return info

    def _remember(self, origin: Origin, until: float, info: SourceInfo) -> None:
        """Keep what is known of a source, and of others as many as there is room for."""
        self._known.pop(origin.key, None)
        self._known[origin.key] = (origin.version, until, info)
        while len(self._known) > _MOST_KNOWN:
            self._known.pop(next(iter(self._known)), None)

    async def _read(self, asker: str, origin: Origin, info: SourceInfo) -> SourceInfo:
        """Return what is known of a source, with its tables."""
        run = self._sandbox.run
        if origin.url:
            read = await run(reflect_database, origin.url, bounds=_REFLECTING, key=asker)
            catalog, dialect = read
            return replace(info, tables=catalog.tables, note=catalog.note, dialect=dialect)
        snapshot = await self._snapshot(asker, origin)
        tables = await run(list_tables, origin.name, snapshot, bounds=_READING, key=asker)
        return replace(info, tables=tables)

    async def _usable_snapshot(self, asker: str, origin: Origin) -> Path:
        """Return the place of the source's copy. Raise SourceUnusable."""
        try:
            return await self._snapshot(asker, origin)
        except SandboxError as error:
            raise SourceUnusable(
                f"The source {origin.name} cannot be read: {too_much(error)}"
            ) from None

    async def _snapshot(self, asker: str, origin: Origin) -> Path:
        """Return the place of the source's copy, made now if there is none."""
        name, file, upload = f"{origin.name}.duckdb", origin.path, origin.upload
        bounds = _READING_CELLS if origin.holds_cells else _READING
        if upload:
            bounds = replace(bounds, seconds=_UPLOAD_SECONDS)

        async def fill(folder: Path) -> None:
            run = self._sandbox.run
            if upload is not None:
                place = (folder / name, origin.name, upload)
                await run(fill_upload, *place, bounds=bounds, key=asker)
            elif file is not None:
                await run(fill_snapshot, folder / name, origin.name, file, bounds=bounds, key=asker)
            else:
                await run(build_finance, folder, bounds=_BUILDING, key=asker)

        cache = self._cache_of_uploads if upload else self._cache
        folder = upload.id if upload else "finance" if file is None else origin.name
        key = (asyncio.get_running_loop(), folder, origin.version)
        alone = self._making.get(key) or self._making.setdefault(key, asyncio.Lock())
        try:
            with reading(origin.name):
                async with alone:  # who asks meanwhile waits for the same copy
                    return await ensure_snapshot(cache, folder, origin.version, fill) / name
        except OSError as error:
            raise SourceUnusable(f"Its copy cannot be written: {error.strerror}.") from None
