"""The file of the older system: copied, and only the copy is opened, so it never changes.

SQLite itself would write beside a file that it reads: it completes what another program began, and
needs an index of the write-ahead log. In a copy it may.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from backend.legacy.errors import LegacyRefused

MAGIC = b"SQLite format 3\x00"
_HEADER = 100  # bytes
_WAL, _JOURNAL = "-wal", "-journal"
_BEGUN = bytes.fromhex("d9d505f920a163d7")  # begins a journal that is not completed
_BUSY_SECONDS = 1.0


class LegacyFile:
    """An open copy; `notes` say what was unusual about the file."""

    def __init__(self, connection: sqlite3.Connection, notes: list[str]) -> None:
        self.connection, self.notes = connection, notes


@contextmanager
def open_copy(path: Path) -> Iterator[LegacyFile]:
    """Open a copy of the file, with what stands in its write-ahead log. Raise LegacyRefused."""
    try:
        head = _head(path)
        notes = _look_beside(path, head)
        with TemporaryDirectory(prefix="colloquy-legacy-") as folder:
            copy = Path(folder) / "copy.sqlite"
            _copy(path, copy)
            notes += _complete(copy, head)
            connection = sqlite3.connect(copy, isolation_level=None)
            _read_in(connection, path)
    except OSError as error:
        raise LegacyRefused(f"{path} cannot be read: {error.strerror}.") from None
    # From here on there is no copy under any name that a killed process would leave behind.
    with closing(connection):
        connection.text_factory = bytes  # texts may be no UTF-8
        yield LegacyFile(connection, notes)


def _head(path: Path) -> bytes:
    kind = path.stat().st_mode
    if not stat.S_ISREG(kind):
        raise LegacyRefused(f"{path} is no file.")
    with path.open("rb") as file:
        head = file.read(_HEADER)
    if not head.startswith(MAGIC):
        raise LegacyRefused(
            f"{path} is empty."
            if not head
            else f"{path} is no SQLite database, or it is encrypted."
        )
    if len(head) < _HEADER:
        raise LegacyRefused(
            f"{path} is cut off after {len(head)} bytes: nothing of it can be read."
        )
    return head


def _look_beside(path: Path, head: bytes) -> list[str]:
    """Say what stands beside the file. Raise LegacyRefused if another program holds it."""
    if head[18] == 1 and (words := _refusal(path)) and "locked" in words:
        raise LegacyRefused(
            f"{path} is locked by another program. Stop the older system, then start again; nothing"
            " was changed."
        )
    notes = []
    if _size(path, _WAL):
        notes.append("The file has a write-ahead log beside it, which was read, too.")
    if _is_begun(path):
        notes.append(
            "The older system ended in the middle of a transaction: what it had not completed is"
            " not taken."
        )
    return notes


def _refusal(path: Path) -> str:
    """Return what SQLite says when it is to read the file itself; with a log it would write."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS)) as connection:
        try:
            connection.execute("SELECT name FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:  # a damaged one is told by its copy
            return str(error)
    return ""


def _is_begun(path: Path) -> bool:
    """Return whether a journal stands beside the file that is to be rolled back."""
    if not _size(path, _JOURNAL):
        return False
    with Path(f"{path}{_JOURNAL}").open("rb") as file:
        return file.read(len(_BEGUN)) == _BEGUN


def _copy(path: Path, copy: Path) -> None:
    """Copy the file and what belongs to it. Raise LegacyRefused if it is written meanwhile."""
    names = [path, *(Path(f"{path}{end}") for end in (_WAL, _JOURNAL) if _size(path, end))]
    before = _marks(names)
    for name in names:
        shutil.copyfile(name, f"{copy}{name.name.removeprefix(path.name)}")
    if _marks(names) != before:
        raise LegacyRefused(
            f"{path} was written while it was read. Stop the older system, then start again."
        )


def _complete(copy: Path, head: bytes) -> list[str]:
    """Lengthen a copy that was cut off, with empty pages: SQLite opens no shorter one."""
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    is_counted = head[24:28] == head[92:96]  # else an old writer, which left the number as it was
    declared = int.from_bytes(head[28:32], "big") * page if is_counted else 0
    size = copy.stat().st_size
    if size >= declared or _size(copy, _WAL):
        return []
    os.truncate(copy, declared)
    return [
        f"The file is cut off: it has {size:,} of {declared:,} bytes. What can still be read of it"
        " is taken."
    ]


def _read_in(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the log into the copy, and leave nothing that SQLite would look for by its name."""
    try:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        for setting in ("temp_store = MEMORY", "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        connection.close()
        raise LegacyRefused(f"{path} is damaged, and nothing of it can be read: {error}.") from None


def _size(path: Path, end: str) -> int:
    beside = Path(f"{path}{end}")
    return beside.stat().st_size if beside.is_file() else 0


def _marks(names: list[Path]) -> list[tuple[int, int]]:
    return [(found.st_size, found.st_mtime_ns) for found in map(Path.stat, names)]
