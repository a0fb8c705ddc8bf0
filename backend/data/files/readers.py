"""Fills a snapshot from a file; this happens in a child of the sandbox, since files are anybody's.

A copy is read, taken while the file stood still. What a reader makes of a broken file belongs to
this source alone: it is a SourceUnusable.
"""

import errno
import glob
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from backend.data.engines.local import OWN_CONNECTION
from backend.data.errors import DataError, SourceUnusable
from backend.data.files.folder import WORKBOOKS
from backend.data.files.snapshots import UNDERSTOOD, fingerprint
from backend.data.files.spreadsheets import read_workbook
from backend.data.reading.delimited import check_width, read_delimited
from backend.data.reading.understood import Understood, save_understood

READING_VERSION = 3  # part of a snapshot's name: raised when files are read differently
_SETTLED_SECONDS = 0.3  # a file that changed later than that may still be written
_COPY_ATTEMPTS = 20
_WHAT = {
    ".parquet": "Parquet",
    ".xlsx": "a workbook",
    ".xlsm": "a workbook",
    ".xls": "a workbook",
    ".gz": "a packed text",
    ".pdf": "a PDF",
}
_MEMORY_LIMIT = "120MB"  # beside what Python and the engine's own reader hold of the 300 MB


def fill_snapshot(snapshot: Path, name: str, path: Path) -> None:
    """Write the tables of the file at `path` into the new DuckDB file `snapshot`.

    What was understood of them is written beside it.
    """
    copy = snapshot.with_name(f"copy{''.join(path.suffixes[-2:]).lower()}")
    copy_standing_still(path, copy)
    if copy.stat().st_size == 0:
        raise SourceUnusable("The file is empty.")
    fill_from_copy(snapshot, copy, path.name, lambda connection: read_file(connection, name, copy))


def fill_from_copy(
    snapshot: Path,
    copy: Path,
    shown: str,
    read: Callable[[duckdb.DuckDBPyConnection], dict[str, Understood]],
) -> None:
    """Write what `read` makes of a copy, which is removed then. Raise SourceUnusable.

    `shown` is the file's name in the words of errors.
    """
    scratch = snapshot.with_name("scratch.duckdb")
    config = OWN_CONNECTION | {"memory_limit": _MEMORY_LIMIT}
    with duckdb.connect(str(snapshot), config=config) as connection:
        place = str(scratch).replace("'", "''")
        connection.execute(f"ATTACH '{place}' AS scratch")
        try:
            tables = read(connection)
        except (DataError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - see the module's docstring
            raise SourceUnusable(in_words(error, copy, shown)) from None
        connection.execute("DETACH scratch")
    save_understood(snapshot.with_name(UNDERSTOOD), tables)
    scratch.unlink()
    copy.unlink()


def in_words(error: Exception, copy: Path, shown: str) -> str:
    """Return why a file cannot be read; what engines say of damaged files helps nobody."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "There is no room left on the service's disk. Ask its operator for some."
    what = next((what for suffix, what in _WHAT.items() if copy.name.endswith(suffix)), "")
    if what:
        return (
            f"The file cannot be read as {what}: it is damaged, incomplete or another kind of "
            "file. Save it anew with the program that made it, and bring it again."
        )
    text = str(error).split("\nLINE ")[0].replace(str(copy), shown)
    return f"The file cannot be read: {' '.join(text.split())[:300]}"


def copy_standing_still(
    path: Path, copy: Path, take: Callable[[Path, Path], object] = shutil.copyfile
) -> None:
    """Copy the file as it was at one moment. Raise SourceUnusable if it never stands still."""
    for _ in range(_COPY_ATTEMPTS):
        try:
            before = fingerprint(path)
            age = time.time() - path.stat().st_mtime
            if 0 <= age < _SETTLED_SECONDS:
                time.sleep(_SETTLED_SECONDS - age)
            take(path, copy)
            if fingerprint(path) == before:
                return
        except FileNotFoundError:
            time.sleep(_SETTLED_SECONDS)  # some programs replace a file by removing it first
    raise SourceUnusable("The file is being written at the moment. Ask again when it is finished.")


def read_file(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    """Make tables of the file at `path`; return what was understood of each.

    The connection has a database called scratch beside its own.
    """
    return _READERS.get(path.suffix.lower(), _read_text)(connection, name, path)


def _read_text(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    return {name: read_delimited(connection, name, path)}


def read_parquet(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    """Make a table of the Parquet file."""
    relation = "read_parquet(?, hive_partitioning = false)"
    place = [glob.escape(str(path))]
    check_width(len(connection.sql(f"FROM {relation}", params=place).columns))
    connection.execute(f'CREATE TABLE "{name}" AS FROM {relation}', place)


def _read_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    read_parquet(connection, name, path)
    return {}


def _read_excel(
    connection: duckdb.DuckDBPyConnection, _name: str, path: Path
) -> dict[str, Understood]:
    return read_workbook(connection, path)


_READERS: dict[str, Callable[[duckdb.DuckDBPyConnection, str, Path], dict[str, Understood]]] = {
    ".parquet": _read_parquet,
    **dict.fromkeys(WORKBOOKS, _read_excel),
}
