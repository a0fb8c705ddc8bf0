"""Sources as DuckDB files of our own: queries read these copies, never a person's files.

A snapshot is built beside its place and moved there at once, so several processes may race;
its name holds the file's size and time, so a changed file is a new snapshot.
"""

import glob
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import duckdb

from backend.data.errors import QueryStopped, SourceUnusable
from backend.data.files import unique_name
from backend.data.finance.build import FINANCE_VERSION, build_finance
from backend.data.interrupt import Interrupt
from backend.data.spreadsheets import read_sheets

_BUILDING = ".building-"
_ABANDONED_SECONDS = 3600
_MEMORY_LIMIT = "1GB"

# DuckDB reads UTF-8; files from spreadsheets in the West are often in Latin-1.
_CSV_ATTEMPTS = ("", ", encoding = 'latin-1'", ", all_varchar = true")


def ensure_finance(cache: Path, interrupt: Interrupt) -> Path:
    """The folder with the bundled `fi.duckdb` and `bpc.duckdb`, generated at first use."""
    final = cache / f"finance-{FINANCE_VERSION}"
    if not final.is_dir():
        interrupt.check()
        with _building(cache) as folder:
            build_finance(folder)
            _publish(folder, final)
    return final


def ensure_snapshot(cache: Path, name: str, path: Path, interrupt: Interrupt) -> Path:
    """The folder with the snapshot `{name}.duckdb` of a file; raises SourceUnusable."""
    final = cache / f"{name}-{fingerprint(path)}"
    if not final.is_dir():
        with _building(cache) as folder:
            _fill(folder / f"{name}.duckdb", name, path, interrupt)
            _publish(folder, final)
        _remove_older(cache, name, final)
    return final


def fingerprint(path: Path) -> str:
    """Changes with the file's place, size or time of change."""
    status = path.stat()
    text = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ino}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


@contextmanager
def _building(cache: Path) -> Iterator[Path]:
    cache.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(cache)
    folder = cache / f"{_BUILDING}{uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        if not final.is_dir():  # else another process was first, with the same content
            raise


def _remove_abandoned(cache: Path) -> None:
    for folder in cache.glob(f"{_BUILDING}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _remove_older(cache: Path, name: str, newest: Path) -> None:
    for folder in cache.iterdir():
        same_source = folder.name.rpartition("-")[0] == name
        if same_source and folder != newest:
            shutil.rmtree(folder, ignore_errors=True)


def _fill(snapshot: Path, name: str, path: Path, interrupt: Interrupt) -> None:
    if path.stat().st_size == 0:
        raise SourceUnusable("The file is empty.")
    kind = path.suffix.lower()
    read = _READERS.get(kind, _read_csv)
    config: dict[str, str | bool | int | float | list[str]]
    config = {"memory_limit": _MEMORY_LIMIT, "python_enable_replacements": False}
    with duckdb.connect(str(snapshot), config=config) as connection:
        try:
            with interrupt.covers(connection.interrupt):
                read(connection, name, path, interrupt)
        except (QueryStopped, SourceUnusable):
            raise
        except duckdb.InterruptException:
            raise QueryStopped from None
        # Files are anybody's bytes: whatever a reader makes of them belongs to this source alone.
        except Exception as error:  # noqa: BLE001
            text = str(error).split("\nLINE ")[0].replace(str(path), path.name)
            reason = " ".join(text.split())[:300]
            raise SourceUnusable(f"The file cannot be read: {reason}") from None


def _read_csv(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, _interrupt: Interrupt
) -> None:
    failure: Exception = SourceUnusable("The file cannot be read as CSV.")
    for options in _CSV_ATTEMPTS:
        try:
            connection.execute(
                f'CREATE TABLE "{name}" AS FROM read_csv(?, sample_size = -1{options})',
                [glob.escape(str(path))],
            )
            return
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            failure = error
    raise failure


def _read_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, _interrupt: Interrupt
) -> None:
    connection.execute(
        f'CREATE TABLE "{name}" AS FROM read_parquet(?, hive_partitioning = false)',
        [glob.escape(str(path))],
    )


def _read_excel(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, interrupt: Interrupt
) -> None:
    taken: set[str] = set()
    for title, table in read_sheets(path, interrupt):
        sheet = unique_name(title, taken)
        taken.add(sheet)
        connection.register("sheet", table)
        connection.execute(f'CREATE TABLE "{sheet}" AS FROM sheet')
        connection.unregister("sheet")
    if not taken:
        raise SourceUnusable("No sheet of the workbook holds a row.")


def _refuse_xls(
    _connection: duckdb.DuckDBPyConnection, _name: str, _path: Path, _interrupt: Interrupt
) -> None:
    raise SourceUnusable("This is the old .xls format. Save it as .xlsx.")


_READERS: dict[str, Callable[[duckdb.DuckDBPyConnection, str, Path, Interrupt], None]] = {
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
    ".xlsm": _read_excel,
    ".xls": _refuse_xls,
}
