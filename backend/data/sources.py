"""All sources that tools may query: the bundled finance data, files and databases.

Reading and querying happen in children of the sandbox; each source has its own limits.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from backend.data.differences import Thresholds
from backend.data.errors import (
    QueryFailed,
    QueryRefused,
    QueryTimedOut,
    SourceUnusable,
)
from backend.data.files.parquet import Written
from backend.data.files.uploads import DOCUMENT
from backend.data.origins import (
    BUNDLED,
    Catalogue,
    Fixed,
    Origin,
    Origins,
    SourcesWithUploads,
    WithoutSome,
    digest_of,
    find_origin,
)
from backend.data.profile import profile_tables
from backend.data.questions import (
    Question,
    Snapshot,
    choose_table,
    query_database,
    query_snapshots,
    write_database,
    write_snapshots,
)
from backend.data.result_comparison import Side, compare_sides
from backend.data.results import Limits, Table
from backend.data.source_info import SourceInfo, listed, mentions
from backend.data.source_reader import MEGABYTES, READING, Fetch, SourceReader, is_there
from backend.data.sql.guard import MAX_QUERY_CHARS, names_of_tables
from backend.data.sql.names import written
from backend.data.tables import TableInfo
from backend.data.zones import zone_notes
from backend.sandbox.errors import OutOfMemory, OutOfTime, SandboxError
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox

PRELOADED = ("backend.data.preloaded",)  # what the sandbox's children need
_COMPARING = Bounds(30, MEGABYTES)
WRITE_SECONDS = 120.0  # to write a complete result
_LIST_SECONDS = 60.0  # a list's wait for files and databases that were not read before

T = TypeVar("T")


class Sources:
    """The sources of an installation; all turns of a loop share them.

    `asker` names the person who queries, so that nobody can occupy the whole sandbox. Added,
    changed and removed files are noticed at the next call. `fetch` has an upload's bytes at its
    path before they are read; it may block, and raise SourceUnusable or FileStoreUnavailable.
    """

    def __init__(
        self,
        data_dir: Path,
        source_urls: Mapping[str, str],
        sandbox: Sandbox,
        fetch: Fetch = is_there,
    ) -> None:
        self._origins: Catalogue = Origins(data_dir, source_urls)
        self._reader = SourceReader(data_dir, sandbox, fetch)
        self._sandbox = sandbox

    def beside(self, find_uploads: Callable[[], Sequence[Origin]]) -> "Sources":
        """Return these sources together with uploads, which are looked up at each call."""
        view = copy(self)
        view._origins = SourcesWithUploads(self._origins, find_uploads)
        return view

    def without(self, withheld: Callable[[], Collection[str]]) -> "Sources":
        """Return these sources but for those with the names withheld, looked up at each call."""
        view = copy(self)
        view._origins = WithoutSome(self._origins, withheld)
        return view

    def alone(self, *origins: Origin) -> "Sources":
        """Return only these sources."""
        view = copy(self)
        view._origins = Fixed(*origins)
        return view

    async def read(self, asker: str, origin: Origin) -> SourceInfo:
        """Read a source now and return it.

        Raise SourceUnusable, CorrectionRefused or SandboxError.
        """
        return await self._reader.read(asker, origin)

    async def documents(self) -> list[str]:
        """Return the names of the documents among the installation's sources."""
        origins = self._origins
        if not isinstance(origins, SourcesWithUploads):
            return []
        uploads = await asyncio.to_thread(origins.find_uploads)
        return [origin.name for origin in uploads if origin.kind == DOCUMENT]

    def names(self) -> list[str]:
        """Return the names of all sources: bundled, then databases, then files."""
        return list(self._origins.find_all())

    def digest(self) -> str:
        """Return a digest of them, which hosts with the same sources share."""
        return digest_of(self._origins.find_all())

    async def list_all(self, asker: str, wait_seconds: float = _LIST_SECONDS) -> list[SourceInfo]:
        """Return all sources with their tables; one that cannot be read is listed with its error.

        One that takes too long gets an error as well, and is read in the background.
        """
        origins = list((await self._all()).values())
        tasks = [self._reader.begin_reading(asker, origin) for origin in origins]
        await asyncio.wait(tasks[: len(BUNDLED)])
        await asyncio.wait(tasks, timeout=wait_seconds)
        return [listed(origin, task) for origin, task in zip(origins, tasks, strict=True)]

    def left_out(self) -> int:
        """Return how many files are not listed because there are too many."""
        return self._origins.left_out

    async def find(self, asker: str, name: str) -> SourceInfo:
        """Return one source with its tables. Raise UnknownSource or SourceUnusable."""
        return await self._reader.usable(asker, find_origin(await self._all(), name))

    async def describe(self, asker: str, name: str, table: str | None = None) -> SourceInfo:
        """Return one source, its tables (or the one named) with the values of their columns."""
        origin = find_origin(await self._all(), name)
        info = await self._reader.usable(asker, origin)
        tables = info.tables
        if table is not None:
            tables = (choose_table(info.name, tables, table, info.dialect),)
        if not origin.url:
            path = await self._reader.usable_snapshot(asker, origin)
            tables = await self._ask(asker, READING, profile_tables, info.name, path, tables)
        return replace(info, tables=tables)

    async def query(self, asker: str, name: str, question: Question, limits: Limits) -> Table:
        """Return the result of one SELECT, or sums by keys with the sum in the last column.

        Except in databases, a SELECT may join tables of other sources.
        """
        if isinstance(question, str) and len(question) > MAX_QUERY_CHARS:
            raise QueryRefused(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
        origins = await self._all()
        origin = find_origin(origins, name)
        info = await self._reader.usable(asker, origin)
        bounds = Bounds(limits.seconds, MEGABYTES)
        if origin.url:
            place = (info.name, origin.url, info.tables)
            return await self._ask(asker, bounds, query_database, *place, question, limits)
        snapshots = await self._snapshots(asker, origins, origin, question)
        return await self._ask(asker, bounds, query_snapshots, *snapshots, question, limits)

    async def write(self, asker: str, name: str, sql: str, place: Path) -> Written:
        """Write the complete result of one SELECT to a Parquet file, without holding it in memory.

        Raise DataError.
        """
        if len(sql) > MAX_QUERY_CHARS:
            raise QueryRefused(f"The query is longer than {MAX_QUERY_CHARS:,} characters.")
        origins = await self._all()
        origin = find_origin(origins, name)
        info = await self._reader.usable(asker, origin)
        bounds = Bounds(WRITE_SECONDS, MEGABYTES)
        if origin.url:
            where = (info.name, origin.url, info.tables)
            limits = Limits(seconds=WRITE_SECONDS)
            return await self._ask(asker, bounds, write_database, *where, sql, place, limits)
        snapshots = await self._snapshots(asker, origins, origin, sql)
        return await self._ask(asker, bounds, write_snapshots, *snapshots, sql, place)

    async def fingerprint(self, name: str) -> str:
        """Return a value that changes with the source's content. Raise UnknownSource."""
        return find_origin(await self._all(), name).version

    async def _snapshots(
        self, asker: str, origins: Mapping[str, Origin], origin: Origin, question: Question
    ) -> tuple[Snapshot, list[Snapshot]]:
        """Return the source that is queried, and the other sources that the query names."""
        info = await self._reader.usable(asker, origin)
        default = Snapshot(
            info.name, info.tables, await self._reader.usable_snapshot(asker, origin)
        )
        named = [o for o in origins.values() if o != origin and mentions(question, o.name)]
        others = [
            Snapshot(other.name, about.tables, await self._reader.usable_snapshot(asker, other))
            for other in named
            if not other.url and not (about := await self._reader.info(asker, other)).error
        ]
        return default, others

    async def sample(
        self, asker: str, name: str, table: str | None, rows: int
    ) -> tuple[TableInfo, Table]:
        """Return the first rows of a table, by default of the first one.

        Raise UnknownSource or SourceUnusable.
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
        """Return what was skipped or unclear in the tables that a query names, and their zones.

        What is to be said of a source as a whole comes first.
        """
        origins = await self._all()
        origin = find_origin(origins, name)
        names = names_of_tables(sql, (await self._reader.info(asker, origin)).dialect)
        asked = [o for o in origins.values() if o == origin or mentions(names, o.name)]
        infos = [await self._reader.info(asker, one) for one in asked]
        tables = [(info, table) for info in infos for table in info.tables]
        remarks = [f"{one.name}: {one.remark}" for one in asked if one.remark]
        return remarks + [
            f"{info.name}.{table.name}: {warning}"
            for info, table in tables
            if mentions(names, table.name)
            for warning in (*table.warnings, *zone_notes(sql, table, info.dialect))
        ]

    async def compare(
        self, asker: str, left: Side, right: Side, key_names: Sequence[str], within: Thresholds
    ) -> tuple[Table, list[str]]:
        """Return the differences between two results of `query`, and notes about them."""
        return await self._ask(asker, _COMPARING, compare_sides, left, right, key_names, within)

    async def _all(self) -> dict[str, Origin]:
        return await asyncio.to_thread(self._origins.find_all)

    async def _ask(
        self, asker: str, bounds: Bounds, work: Callable[..., T], *arguments: object
    ) -> T:
        """Run a query's work in the sandbox. Raise DataError."""
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
