"""What stands beside the conversations: domains, containers, images, sessions and messages.

Three shapes are understood, also mixed: tables with columns of these names; such tables with the
record as JSON in a column; and AgentX's own store, a table of keys (`images:img_…`) and values.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from backend.legacy.tables import ROW, Row, Table, table_names
from backend.legacy.values import Unreadable, as_record, id_in, read_json, read_text
from backend.text import counted
from backend.types import JSON

KINDS = ("container", "image", "session", "domain")
_ORDER = ("sequence", "seq", "position", "idx")


class Store:
    """The records by their ids; messages stay in the file until they are asked for.

    `notes` says what of these tables could not be read.
    """

    def __init__(self, *connections: sqlite3.Connection) -> None:
        self.notes: list[str] = []
        self.containers: dict[str, JSON] = {}
        self.images: dict[str, JSON] = {}
        self.sessions: dict[str, JSON] = {}
        self.domains: dict[str, JSON] = {}
        self._bound: dict[str, list[str]] = defaultdict(list)  # images by session
        self._session_of: dict[str, str] = {}  # by image
        self._of_container: dict[str, list[str]] = defaultdict(list)
        self._messages: dict[str, list[tuple[Table, int]]] = defaultdict(list)
        for connection in connections:
            self._read(connection)
        self._bind()

    def images_of_session(self, session_id: str) -> list[str]:
        """Return the images that are bound to a session: one, where the file is sound."""
        return self._bound.get(session_id, [])

    def images_of_container(self, container_id: str) -> list[str]:
        """Return the images of a container, the oldest first."""
        return self._of_container.get(container_id, [])

    def session_of_image(self, image_id: str) -> str:
        """Return the session in which an image's messages are; empty: unknown."""
        return self._session_of.get(image_id, "")

    @property
    def with_messages(self) -> Collection[str]:
        """The sessions that have messages."""
        return self._messages.keys()

    def messages(self, session_id: str, notes: list[str]) -> list[Any]:
        """Return a session's messages as they are stored; `notes` gets what could not be read."""
        found: list[Any] = []
        for table, number in self._messages.get(session_id, []):
            try:
                row = table.row(number) or {}
                found += _messages_in(row)
            except sqlite3.DatabaseError as error:
                notes.append(f"A message could not be read: {error}.")
            except Unreadable as error:
                notes.append(f"Messages could not be read: {error}.")
        return found

    def _read(self, connection: sqlite3.Connection) -> None:
        names = table_names(connection)
        for kind in KINDS:
            if name := names.get(f"{kind}s"):
                self._read_kind(Table(connection, name), kind)
        if name := names.get("messages"):
            self._read_messages(Table(connection, name))
        for name in names.values():
            table = Table(connection, name)
            if {"key", "value"} <= set(map(str.lower, table.columns)):
                self._read_keys(table)

    def _read_kind(self, table: Table, kind: str) -> None:
        for row in table.rows():
            record = as_record(row)
            if key := id_in(record, kind):
                self._records(kind)[key] = record
            if kind == "session" and record.get("messages") is not None:
                self._messages[key].append((table, row[ROW]))
        self._note_lost(table)

    def _read_messages(self, table: Table) -> None:
        """Note where each session's messages are, in their order."""
        places: dict[str, list[tuple[Any, int]]] = defaultdict(list)
        for row in table.rows():
            record = as_record(row)
            order = next((record[name] for name in _ORDER if _is_number(record.get(name))), 0)
            places[_text(record, "sessionid")].append((order, row[ROW]))
        if nobodys := places.pop("", []):
            self.notes.append(
                f"{counted(len(nobodys), 'message')} of {table.name} name no session."
            )
        for session_id, found in places.items():
            self._messages[session_id] += [(table, number) for _, number in sorted(found)]
        self._note_lost(table)

    def _read_keys(self, table: Table) -> None:
        for row in table.rows():
            named = {key.lower(): value for key, value in row.items()}
            kind, _, key = read_text(named["key"])[0].partition(":")
            if kind == "messages":
                self._messages[key].append((table, row[ROW]))
            elif kind.removesuffix("s") in KINDS and kind.endswith("s"):
                record = as_record({"value": named["value"]})
                self._records(kind.removesuffix("s"))[key] = record
        self._note_lost(table)

    def _bind(self) -> None:
        for image_id, record in self._by_age():
            self._bind_one(_text(record, "sessionid"), image_id)
            if container_id := _text(record, "containerid"):
                self._of_container[container_id].append(image_id)
        for session_id, record in self.sessions.items():
            self._bind_one(session_id, _text(record, "imageid"))

    def _bind_one(self, session_id: str, image_id: str) -> None:
        if session_id and image_id and image_id not in self._bound[session_id]:
            self._bound[session_id].append(image_id)
            self._session_of.setdefault(image_id, session_id)

    def _by_age(self) -> Iterator[tuple[str, JSON]]:
        def age(found: tuple[str, JSON]) -> tuple[float, str]:
            made = read_text(found[1].get("createdat"))[0]
            return (float(made), "") if made.replace(".", "", 1).isdigit() else (0.0, made)

        yield from sorted(self.images.items(), key=age)

    def _records(self, kind: str) -> dict[str, JSON]:
        records: dict[str, JSON] = getattr(self, f"{kind}s")
        return records

    def _note_lost(self, table: Table) -> None:
        if table.lost:
            lost = counted(len(table.lost), "unreadable row")
            self.notes.append(f"The table {table.name} has {lost}.")


def _messages_in(row: Row) -> list[Any]:
    """Return the messages of a row: one, or those in the array that it holds. Raise Unreadable."""
    named = {key.lower(): value for key, value in row.items()}
    for column in ("messages", "value", "data"):
        value = named.get(column)
        if isinstance(value, bytes | str) and read_text(value)[0].lstrip().startswith("["):
            found = read_json(value)
            return found if isinstance(found, list) else []
    if "value" in named and "key" in named:
        raise Unreadable("they are no list")
    return [row]


def _text(record: JSON, name: str) -> str:
    return read_text(record.get(name))[0].strip()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
