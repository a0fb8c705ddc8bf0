"""Tables of a file that may be damaged: what can be read is read, and what cannot is named."""

import sqlite3
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]
ROW = "_row_"  # the key of SQLite's number of a row
_MOST_TRIED = 2_000_000  # numbers of rows that are tried singly after the first unreadable one
_DISORDER = "a page is damaged"  # where a part of it was lost, rows have wrong numbers


def table_names(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the tables' names by what they are without case."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = [bytes(name).decode("utf-8", "replace") for (name,) in found]
    return {name.lower(): name for name in names}


class Table:
    """One table; once it was read, `lost` holds the numbers of the rows that could not be.

    `is_open_ended`: their index cannot be read either, so there may have been more.
    """

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.name, self.lost = name, list[int]()
        self._connection, self._quoted = connection, quoted(name)
        described = connection.execute(f"PRAGMA table_info({self._quoted})").fetchall()
        self.columns = [bytes(one[1]).decode("utf-8", "replace") for one in described]
        self._known: dict[int, Any] = {}
        self.is_open_ended = False

    def rows(self) -> Iterator[Row]:
        """Yield all rows that can be read, in the order of their numbers."""
        self.lost.clear()
        last = -(2**63)
        try:
            for values in self._select("rowid > ? ORDER BY rowid", last):
                if values[0] <= last:
                    raise sqlite3.DatabaseError(_DISORDER)
                last = values[0]
                yield self._row(values)
        except sqlite3.DatabaseError as error:
            if "no such column" in str(error):  # a table without numbers
                yield from self._rows_without_numbers()
                return
            yield from self._singly(max(last + 1, 1))

    def row(self, number: int) -> Row | None:
        """Return one row. Raise sqlite3.DatabaseError if it cannot be read."""
        found = self._select("rowid = ?", number).fetchone()
        if found and found[0] != number:
            raise sqlite3.DatabaseError(_DISORDER)
        return self._row(found) if found else None

    def id_of_lost(self, number: int) -> Any:
        """Return the id of a row that could not be read, as far as an index still holds it."""
        return self._known.get(number)

    def _singly(self, first: int) -> Iterator[Row]:
        """Read each row by its number: those on pages that are left are still found."""
        is_all_known = self._read_ids()
        self.is_open_ended = not is_all_known
        last = min(max([self._highest(), *self._known], default=0), first + _MOST_TRIED)
        for number in range(first, last + 1):
            is_lost = number in self._known
            try:
                found = self.row(number)
            except sqlite3.DatabaseError:
                found, is_lost = None, is_lost or not is_all_known
            if found:
                yield found
            elif is_lost:
                self.lost.append(number)

    def _read_ids(self) -> bool:
        """Read the rows' ids from the index of the primary key; return whether all of them."""
        index = quoted(f"sqlite_autoindex_{self.name}_1")
        column = quoted(self.columns[0])
        try:
            for number, value in self._connection.execute(
                f"SELECT rowid, {column} FROM {self._quoted} INDEXED BY {index}"  # noqa: S608  (names of the schema, quoted)
            ):
                self._known[number] = value
        except sqlite3.DatabaseError:
            return False
        return True

    def _highest(self) -> int:
        try:
            found = self._connection.execute(f"SELECT max(rowid) FROM {self._quoted}").fetchone()  # noqa: S608
        except sqlite3.DatabaseError:
            return 0
        return found[0] or 0

    def _rows_without_numbers(self) -> Iterator[Row]:
        found = self._connection.execute(f"SELECT 0, * FROM {self._quoted}")  # noqa: S608
        try:
            for number, values in enumerate(found, 1):
                yield self._row((number, *values[1:]))
        except sqlite3.DatabaseError:
            self.lost.append(0)

    def _select(self, condition: str, value: int) -> sqlite3.Cursor:
        return self._connection.execute(
            f"SELECT rowid, * FROM {self._quoted} WHERE {condition}",  # noqa: S608
            (value,),
        )

    def _row(self, values: tuple[Any, ...]) -> Row:
        return {ROW: values[0], **dict(zip(self.columns, values[1:], strict=True))}


def quoted(name: str) -> str:
    """Return a name as it stands in a statement."""
    return '"' + name.replace('"', '""') + '"'
