"""Fills a snapshot from a file; in a child of the sandbox, because files are not trusted.

A copy is read, taken while the file did not change. Any error that a reader raises for a broken
file concerns this source only: it becomes a SourceUnusable.
"""

import errno
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from backend.data.engines.local import own_connection
from backend.data.errors import DataError, SourceUnusable
from backend.data.files.folder import copy_from
from backend.data.files.formats import WORKBOOKS, Format, find_format
from backend.data.files.parquet_tables import read_parquet
from backend.data.files.snapshots import UNDERSTOOD, fingerprint
from backend.data.files.spreadsheets import read_workbook
from backend.data.files.web_pages import is_web_page, read_web_page
from backend.data.reading.delimited import read_delimited
from backend.data.reading.understood import Understood, save_understood
from backend.data.sql.quoting import literal

READING_VERSION = 20  # part of a snapshot's name; raise it when files are read differently
_HEAD = 4_096  # bytes that show a format
_SETTLED_SECONDS = 0.3  # a file that changed more recently may still be being written
_COPY_ATTEMPTS = 20
_WHAT = {
    ".parquet": "Parquet",
    ".xlsx": "a workbook",
    ".xlsm": "a workbook",
    ".xls": "a workbook",
    ".gz": "a packed text",
    ".pdf": "a PDF",
}
_MEMORY_LIMIT = "120MB"  # besides what Python and the engine's reader use of the 300 MB


def fill_snapshot(snapshot: Path, name: str, path: Path, folder: Path) -> None:
    """Write the tables of the file at `path` into the new DuckDB file `snapshot`.

    The file has to lie in `folder`. How they were read is written beside it.
    """
    copy = snapshot.with_name(f"copy{''.join(path.suffixes[-2:]).lower()}")
    copy_standing_still(path, copy, partial(copy_from, folder))
    if copy.stat().st_size == 0:
        raise SourceUnusable("The file is empty.")
    fill_from_copy(snapshot, copy, path.name, lambda connection: read_file(connection, name, copy))


def fill_from_copy(
    snapshot: Path,
    copy: Path,
    shown: str,
    read: Callable[[duckdb.DuckDBPyConnection], dict[str, Understood]],
) -> None:
    """Write what `read` makes of a copy, then remove the copy. Raise SourceUnusable.

    `shown` is the file's name in error messages.
    """
    scratch = snapshot.with_name("scratch.duckdb")
    with own_connection(str(snapshot), memory_limit=_MEMORY_LIMIT) as connection:
        connection.execute(f"ATTACH {literal(str(scratch))} AS scratch")
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
    """Return why a file cannot be read; engines' own messages about damaged files help no one."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The server's disk is full. Ask its operator to free some space."
    if isinstance(error, duckdb.OutOfMemoryException):
        return (
            "Reading the file takes more memory than there is for it. Leave out columns, or split "
            "it into smaller files."
        )
    what = next((what for suffix, what in _WHAT.items() if copy.name.endswith(suffix)), "")
    if what:
        return (
            f"The file cannot be read as {what}: it is damaged, incomplete or another kind of "
            "file. Save it again with the program that made it."
        )
    text = str(error).split("\nLINE ")[0].replace(str(copy), shown)
    return f"The file cannot be read: {' '.join(text.split())[:300]}"


def copy_standing_still(
    path: Path, copy: Path, take: Callable[[Path, Path], object] = shutil.copyfile
) -> None:
    """Copy the file as of one moment. Raise SourceUnusable if it keeps changing."""
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
    """Create the tables of the file at `path`; return how each was read.

    The connection has a database called scratch besides its own.
    """
    return _READERS.get(path.suffix.lower(), _read_text)(connection, name, path)


def _read_text(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    return {name: read_delimited(connection, name, path)}


def _read_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    return {name: read_parquet(connection, name, path)}


def _read_excel(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path
) -> dict[str, Understood]:
    with path.open("rb") as file:
        format_ = find_format(file.read(_HEAD), path.name)
    if format_ is Format.TEXT and is_web_page(path):
        return read_web_page(connection, name, path)
    return read_workbook(connection, path)


_READERS: dict[str, Callable[[duckdb.DuckDBPyConnection, str, Path], dict[str, Understood]]] = {
    ".parquet": _read_parquet,
    **dict.fromkeys(WORKBOOKS, _read_excel),
}
