"""Fills a snapshot from a file; this happens in a child of the sandbox, since files are anybody's.

What a reader makes of a broken file belongs to this source alone: it is a SourceUnusable.
"""

import glob
from collections.abc import Callable
from pathlib import Path

import duckdb

from backend.data.errors import SourceUnusable
from backend.data.files import unique_name
from backend.data.local import MEMORY_LIMIT, THREADS
from backend.data.spreadsheets import check_width, read_sheets

# DuckDB reads UTF-8; files from spreadsheets in the West are often in Latin-1.
_CSV_ATTEMPTS = ("", ", encoding = 'latin-1'", ", all_varchar = true")


def fill_snapshot(snapshot: Path, name: str, path: Path) -> None:
    """Write the tables of the file at `path` into the new DuckDB file `snapshot`."""
    if path.stat().st_size == 0:
        raise SourceUnusable("The file is empty.")
    read = _READERS.get(path.suffix.lower(), _read_csv)
    config: dict[str, str | bool | int | float | list[str]]
    config = {
        "memory_limit": MEMORY_LIMIT,
        "threads": THREADS,
        "python_enable_replacements": False,
    }
    with duckdb.connect(str(snapshot), config=config) as connection:
        try:
            read(connection, name, path)
        except (SourceUnusable, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - see the module's docstring
            text = str(error).split("\nLINE ")[0].replace(str(path), path.name)
            reason = " ".join(text.split())[:300]
            raise SourceUnusable(f"The file cannot be read: {reason}") from None


def _read_csv(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    failure: Exception = SourceUnusable("The file cannot be read as CSV.")
    place = glob.escape(str(path))
    for options in _CSV_ATTEMPTS:
        try:
            header = connection.sql(f"FROM read_csv(?{options})", params=[place])
            check_width(len(header.columns))
            connection.execute(
                f'CREATE TABLE "{name}" AS FROM read_csv(?, sample_size = -1{options})', [place]
            )
            return
        except duckdb.Error as error:
            failure = error
    raise failure


def _read_parquet(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    relation = "read_parquet(?, hive_partitioning = false)"
    place = [glob.escape(str(path))]
    check_width(len(connection.sql(f"FROM {relation}", params=place).columns))
    connection.execute(f'CREATE TABLE "{name}" AS FROM {relation}', place)


def _read_excel(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> None:
    taken: set[str] = set()
    for title, table in read_sheets(path):
        sheet = unique_name(title, taken)
        taken.add(sheet)
        connection.register("sheet", table)
        connection.execute(f'CREATE TABLE "{sheet}" AS FROM sheet')
        connection.unregister("sheet")
    if not taken:
        raise SourceUnusable("No sheet of the workbook holds a row.")


def _refuse_xls(_connection: duckdb.DuckDBPyConnection, _name: str, _path: Path) -> None:
    raise SourceUnusable("This is the old .xls format. Save it as .xlsx.")


_READERS: dict[str, Callable[[duckdb.DuckDBPyConnection, str, Path], None]] = {
    ".parquet": _read_parquet,
    ".xlsx": _read_excel,
    ".xlsm": _read_excel,
    ".xls": _refuse_xls,
}
