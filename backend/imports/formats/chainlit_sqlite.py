"""Reads Chainlit's tables from a file of SQLite, without writing one."""

import sqlite3
from typing import Any

from backend.imports.errors import ImportRefused
from backend.imports.upload import Entry, Upload
from backend.types import JSON

SQLITE = b"SQLite format 3\0"
_LARGEST = 256 << 20
_NAMES = {
    "threads": ("threads", "Thread"),
    "steps": ("steps", "Step"),
    "elements": ("elements", "Element"),
}

Tables = dict[str, list[JSON]]


def sqlite_tables(upload: Upload, entry: Entry) -> Tables:
    """Return the rows of threads, steps and elements. Raise ImportRefused."""
    with upload.open(entry.name) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ImportRefused(f"The database is larger than {_LARGEST >> 20} MiB.")
    # The file may say that a log beside it has the newest rows, which an upload lacks.
    content = content[:18] + b"\x01\x01" + content[20:]
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return {table: _rows(connection, names) for table, names in _NAMES.items()}
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise ImportRefused(f"{entry.base[:200]} is no readable database of SQLite.") from error
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, names: tuple[str, ...]) -> list[JSON]:
    present = {
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    for name in names:
        if name in present:
            cursor = connection.execute(f'SELECT * FROM "{name}"')  # noqa: S608  # a fixed name
            columns = [column[0] for column in cursor.description]
            return [dict(zip(columns, map(_value, row), strict=True)) for row in cursor]
    return []


def _value(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
