"""All sources that tools may ask: the bundled finance data, files and databases."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from backend.data.aggregate import Filters, sum_by_keys
from backend.data.databases import Database
from backend.data.errors import SourceUnusable, UnknownSource, did_you_mean
from backend.data.files import find_files, name_files, unique_name
from backend.data.finance import descriptions
from backend.data.guard import Surroundings, check_query, referenced_tables
from backend.data.interrupt import Interrupt, run_stoppable
from backend.data.local import function_names, run_query
from backend.data.profile import TableInfo, list_tables, profile_table
from backend.data.results import Limits, Table
from backend.data.snapshots import ensure_finance, ensure_snapshot, fingerprint

_THREADS = 8
_REFLECT_SECONDS = 60  # how long a database's list of tables may be old
_BUNDLED = {"fi": descriptions.FI, "bpc": descriptions.BPC}

T = TypeVar("T")


@dataclass(frozen=True)
class SourceInfo:
    """A source as list_sources shows it; `error` says why it cannot be read, if so."""

    name: str
    kind: str
    description: str
    tables: tuple[TableInfo, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class _Origin:
    """Where a source comes from: a snapshot that is made of it, or a database's URL."""

    name: str
    kind: str
    description: str
    version: str = ""
    snapshot: Callable[[Interrupt], Path] | None = None
    url: str = ""


class Sources:
    """The sources of one installation; safe to share between threads and turns.

    Files that came, changed or went are noticed at the next call.
    """

    def __init__(self, data_dir: Path, source_urls: Mapping[str, str]) -> None:
        self._folder = data_dir / "sources"
        self._cache = data_dir / "cache" / "sources"
        self._urls = _name_databases(source_urls)
        self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="sources")
        self._running: set[Interrupt] = set()
        self._infos: dict[tuple[str, str], SourceInfo] = {}

    async def run(self, work: Callable[[Interrupt], T], seconds: float) -> T:
        """Run blocking work on the sources beside the loop; a stop or the limit interrupts it."""
        interrupt = Interrupt()
        self._running.add(interrupt)
        try:
            return await run_stoppable(self._executor, work, seconds, interrupt)
        finally:
            self._running.discard(interrupt)

    def names(self) -> list[str]:
        """The names of all sources: bundled, then databases, then files."""
        return list(self._origins())

    def list_all(self, interrupt: Interrupt) -> list[SourceInfo]:
        """All sources with their tables; one that cannot be read is listed with its error."""
        return [self._info(origin, interrupt) for origin in self._origins().values()]

    def describe(self, name: str, interrupt: Interrupt, table: str | None = None) -> SourceInfo:
        """One source, its tables (or the one named) with the values of their columns."""
        origin = _find(self._origins(), name)
        info = self._usable(origin, interrupt)
        tables = info.tables if table is None else (_choose_table(info, table),)
        if origin.snapshot is None:
            return replace(info, tables=tables)
        path = origin.snapshot(interrupt)
        columns = [profile_table(info.name, path, t, interrupt) for t in tables]
        pairs = zip(tables, columns, strict=True)
        return replace(info, tables=tuple(replace(t, columns=c) for t, c in pairs))

    def query(self, name: str, sql: str, limits: Limits, interrupt: Interrupt) -> Table:
        """The result of one SELECT; in all but databases it may join tables of other sources."""
        origins = self._origins()
        origin = _find(origins, name)
        info = self._usable(origin, interrupt)
        if origin.url:
            return Database(origin.url).query(sql, info.tables, limits, interrupt)
        local = [o for o in origins.values() if o.snapshot and _mentions(sql, o.name)]
        infos = [info, *(self._info(o, interrupt) for o in local if o != origin)]
        paths = frozenset(_paths(info, infos))
        checked = check_query(sql, Surroundings("duckdb", paths, function_names(), True))
        used = {origin.name, *(path[0] for path in referenced_tables(checked))}
        snapshots = {
            o.name: o.snapshot(interrupt)
            for o in origins.values()
            if o.snapshot and o.name in used and o.name in {i.name for i in infos}
        }
        return run_query(origin.name, snapshots, sql, limits, interrupt)

    def sum_by_keys(
        self,
        name: str,
        table: str,
        keys: Sequence[str],
        measure: str,
        filters: Filters,
        limits: Limits,
        interrupt: Interrupt,
    ) -> Table:
        """A measure's sums by keys, the sum in the last column; names are checked first."""
        origin = _find(self._origins(), name)
        info = self._usable(origin, interrupt)
        chosen = _choose_table(info, table)
        dialect = Database(origin.url).dialect if origin.url else "duckdb"
        sql = sum_by_keys(info.name, chosen, keys, measure, filters, dialect)
        return self.query(info.name, sql, limits, interrupt)

    def close(self) -> None:
        """Take no more work and stop what runs."""
        for interrupt in tuple(self._running):
            interrupt.fire()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _origins(self) -> dict[str, _Origin]:
        """All sources as they are at this moment, by name."""
        origins = [self._bundled(name, text) for name, text in _BUNDLED.items()]
        for name, url in self._urls.items():
            text = f"A {url.partition(':')[0].partition('+')[0]} database."
            minute = str(int(time.time() // _REFLECT_SECONDS))
            origins.append(_Origin(name, "database", text, minute, url=url))
        files = name_files(find_files(self._folder), self._folder, {o.name for o in origins})
        origins += [self._file(name, path) for name, path in files.items()]
        return {origin.name: origin for origin in origins}

    def _bundled(self, name: str, description: str) -> _Origin:
        def snapshot(interrupt: Interrupt) -> Path:
            return ensure_finance(self._cache, interrupt) / f"{name}.duckdb"

        return _Origin(name, "finance", description, snapshot=snapshot)

    def _file(self, name: str, path: Path) -> _Origin:
        def snapshot(interrupt: Interrupt) -> Path:
            return ensure_snapshot(self._cache, name, path, interrupt) / f"{name}.duckdb"

        text = f"The file {path.relative_to(self._folder).as_posix()}."
        return _Origin(name, "file", text, fingerprint(path), snapshot)

    def _usable(self, origin: _Origin, interrupt: Interrupt) -> SourceInfo:
        info = self._info(origin, interrupt)
        if info.error:
            raise SourceUnusable(f"The source {info.name} cannot be read: {info.error}")
        return info

    def _info(self, origin: _Origin, interrupt: Interrupt) -> SourceInfo:
        """What is known of a source, read again when its file has changed."""
        known = self._infos.get((origin.name, origin.version))
        if known:
            return known
        info = SourceInfo(origin.name, origin.kind, origin.description)
        try:
            info = replace(info, tables=_read_tables(origin, interrupt))
        except SourceUnusable as error:
            info = replace(info, error=error.detail)
        if origin.snapshot or not info.error:
            self._remember(origin, info)
        return info

    def _remember(self, origin: _Origin, info: SourceInfo) -> None:
        """Keep the newest version of each source; a new mapping, since other threads read it."""
        others = {key: value for key, value in self._infos.items() if key[0] != origin.name}
        self._infos = others | {(origin.name, origin.version): info}


def _read_tables(origin: _Origin, interrupt: Interrupt) -> tuple[TableInfo, ...]:
    if origin.snapshot is None:
        return Database(origin.url).list_tables(interrupt)
    return list_tables(origin.name, origin.snapshot(interrupt), interrupt)


def _name_databases(source_urls: Mapping[str, str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, url in source_urls.items():
        named[unique_name(name, {*_BUNDLED, *named})] = url
    return named


def _find(origins: Mapping[str, _Origin], name: str) -> _Origin:
    plain = name.strip().strip('"').lower()
    if plain in origins:
        return origins[plain]
    known = ", ".join(origins)
    hint = did_you_mean(plain, origins)
    raise UnknownSource(f"There is no source {name!r}.{hint} The sources are: {known}.")


def _mentions(sql: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", sql, re.IGNORECASE) is not None


def _choose_table(info: SourceInfo, name: str) -> TableInfo:
    """The table by its name, with or without the source's in front of it."""
    bare = name.replace('"', "").lower().removeprefix(f"{info.name}.")
    for table in info.tables:
        if table.name.lower() == bare:
            return table
    known = [table.name for table in info.tables]
    hint = did_you_mean(bare, known)
    raise UnknownSource(
        f"{info.name} has no table {name!r}.{hint} Its tables are: {', '.join(known)}."
    )


def _paths(default: SourceInfo, infos: list[SourceInfo]) -> Iterator[tuple[str, ...]]:
    """All ways in which a query may write the tables' names."""
    for table in default.tables:
        yield (table.name.lower(),)
    for info in infos:
        for table in info.tables:
            yield (info.name, table.name.lower())
            yield (info.name, "main", table.name.lower())
